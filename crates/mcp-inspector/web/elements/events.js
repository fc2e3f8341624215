// Events that elements send to their ancestors.

/** A frame was selected. */
export class FrameSelectEvent extends Event {
  /** @param {number} number @param {{ open?: boolean, pointer?: string }} [how] `pointer`: the value in it to point at */
  constructor(number, { open = false, pointer } = {}) {
    super('plumb-frame-select', { bubbles: true });
    this.number = number;
    this.open = open;
    this.pointer = pointer;
  }
}

/** The documentation of a rule was requested. */
export class RuleOpenEvent extends Event {
  /** @param {string} rule */
  constructor(rule) {
    super('plumb-rule-open', { bubbles: true });
    this.rule = rule;
  }
}

/** A place in the text should be shown. */
export class SpanShowEvent extends Event {
  /** @param {[number, number]} span @param {{ scroll: boolean }} how */
  constructor(span, { scroll }) {
    super('plumb-span-show', { bubbles: true });
    this.span = span;
    this.scroll = scroll;
  }
}

/** The filter was changed. */
export class FilterChangeEvent extends Event {
  /** @param {string} text */
  constructor(text) {
    super('plumb-filter-change', { bubbles: true });
    this.text = text;
  }
}

/** A frame should be sent again, unchanged or edited. */
export class FrameAgainEvent extends Event {
  /** @param {number} number @param {boolean} withChanges */
  constructor(number, withChanges) {
    super('plumb-frame-again', { bubbles: true });
    this.number = number;
    this.withChanges = withChanges;
  }
}

/** The open frame should be closed. */
export class DetailCloseEvent extends Event {
  constructor() { super('plumb-detail-close', { bubbles: true }); }
}

/** All frames should be shown again. */
export class FilterClearEvent extends Event {
  constructor() { super('plumb-filter-clear', { bubbles: true }); }
}
