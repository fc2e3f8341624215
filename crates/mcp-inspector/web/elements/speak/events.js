// Events of the parts of the Send view.

/** @import { Sent } from '../../api' */
/** @import { Operation } from '../../model/operations.js' */

/** An operation was chosen. */
export class OperationSelectEvent extends Event {
  /** @param {Operation} operation */
  constructor(operation) {
    super('plumb-operation-select', { bubbles: true });
    this.operation = operation;
  }
}

/** A message was sent. */
export class MessageSentEvent extends Event {
  /** @param {Sent} sent */
  constructor(sent) {
    super('plumb-message-sent', { bubbles: true });
    this.sent = sent;
  }
}

/** A call was selected. */
export class CallSelectEvent extends Event {
  /** @param {string} id */
  constructor(id) {
    super('plumb-call-select', { bubbles: true });
    this.id = id;
  }
}
