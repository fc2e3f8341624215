// The text on the wire, byte for byte, with the places of findings marked.

import { make } from '../model/dom.js';
import { byteToIndex } from '../model/json.js';

/** @import { Finding } from '../api' */

// Control characters, and characters that change the display of others.
const UNSEEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]/;
const UNSEEN_OR_TEXT = new RegExp(`${UNSEEN.source}|[^${UNSEEN.source.slice(1, -1)}]+`, 'g');
/** Maximum number of marks. */
const MOST_MARKS = 500;

export class RawViewElement extends HTMLElement {
  /** @type {HTMLElement[]} */
  #marks = [];

  /** @param {string} text @param {Finding[]} findings */
  show(text, findings) {
    const index = byteToIndex(text);
    const spans = findings.filter(finding => finding.span).slice(0, MOST_MARKS).map(finding => {
      const [start, end] = /** @type {[number, number]} */ (finding.span);
      return { start: index(start), end: index(end), bytes: start, finding };
    }).sort((one, other) => one.start - other.start || other.end - one.end);
    const pre = make('pre', { tabindex: 0, 'aria-label': 'text on the wire' });
    this.#marks = [];
    let at = 0;
    for (const { start, end, bytes, finding } of spans) {
      if (start < at) continue; // It is inside another mark.
      append(pre, text.slice(at, start));
      const mark = make('mark', { 'data-severity': finding.severity, 'data-rule': finding.rule, 'data-start': bytes, title: finding.message });
      append(mark, text.slice(start, end));
      // An empty mark shows where something is missing, without adding text that was not on the wire.
      if (start === end) mark.dataset.empty = '';
      pre.append(mark);
      this.#marks.push(mark);
      at = end;
    }
    // A mark at the end is the last one.
    if (at < text.length) append(pre, text.slice(at));
    this.replaceChildren(pre);
  }

  /** Points at the last mark that starts at or before a byte.
   * @param {number} start @param {boolean} scroll */
  point(start, scroll) {
    const mark = this.#marks.findLast(mark => Number(mark.dataset.start) <= start);
    for (const other of this.#marks) other.classList.toggle('hot', other === mark);
    if (scroll) mark?.scrollIntoView({ block: 'center' });
  }
}

/** @param {HTMLElement} parent @param {string} text */
function append(parent, text) {
  if (!UNSEEN.test(text)) {
    parent.append(text);
    return;
  }
  for (const [part] of text.matchAll(UNSEEN_OR_TEXT)) {
    if (!UNSEEN.test(part)) parent.append(part);
    else {
      const code = /** @type {number} */ (part.codePointAt(0)).toString(16).toUpperCase().padStart(4, '0');
      parent.append(make('span', { class: 'unseen', title: `U+${code}` }, `U+${code}`));
    }
  }
}
