// The frame of every field: its name, a checkbox for sending it, what is expected, and what is wrong.

import { make } from '../../model/dom.js';
import { expectation } from '../../model/schema.js';
import { RuleOpenEvent } from '../events.js';

/** @import { Finding } from '../../api' */
/** @import { Schema } from '../../model/schema.js' */
/** @import { FieldPlace } from './field.js' */

let count = 0;
/** A unique id for an element. */
export const newId = () => `field-${++count}`;

export class FieldFrame {
  #findings;
  #control;
  /** Whether the value is sent at all. */
  sent;

  /**
   * @param {Schema} schema
   * @param {FieldPlace} place
   * @param {HTMLElement} control the element that the label refers to, unless it is a group
   * @param {{ isGroup?: boolean, shown?: HTMLElement, toggled: () => void }} how `shown` holds the control
   */
  constructor(schema, place, control, { isGroup = false, shown = control, toggled }) {
    this.#control = control;
    this.sent = make('input', { type: 'checkbox', 'aria-label': `send ${place.name}`, change: toggled });
    const sending = make('label', { class: 'field-sent', title: 'Uncheck to leave it out of the message, which differs from sending an empty text' }, this.sent, ' send');
    const findingsId = newId();
    this.#findings = make('div', { class: 'field-findings', id: findingsId });
    control.setAttribute('aria-describedby', findingsId);
    const title = place.name || (typeof schema.title === 'string' ? schema.title : '');
    const name = isGroup ? make('span', { class: 'field-name' }, title) : make('label', { class: 'field-name', for: control.id }, title);
    const facts = [place.isRequired && place.name && 'required', expectation(schema)].filter(Boolean).join(' · ');
    const head = make('div', { class: 'field-head' }, make('div', { class: 'field-title' }, name, make('span', { class: 'quiet' }, facts)), place.canLeaveOut && sending);
    const words = typeof schema.description === 'string' && make('p', { class: 'field-words quiet' }, schema.description);
    this.element = make('div', { class: isGroup ? 'field group' : 'field', 'data-field': place.name },
      (place.name || place.canLeaveOut) && head, words, shown, this.#findings);
    if (isGroup) {
      control.setAttribute('role', 'group');
      control.setAttribute('aria-label', title || 'arguments');
    }
    if (!place.canLeaveOut) this.sent.checked = true;
  }

  get isSent() { return this.sent.checked; }
  set isSent(isSent) {
    this.sent.checked = isSent;
    this.element.toggleAttribute('data-left-out', !isSent);
  }

  /** @param {Finding} finding */
  mark({ rule, severity, message }) {
    this.element.dataset.severity = severity;
    this.#control.setAttribute('aria-invalid', 'true');
    this.#findings.append(make('p', { class: severity, 'data-rule': rule }, `${severity === 'error' ? '✖' : '▲'} ${message} `,
      make('button', { type: 'button', class: 'link mono', click: event => event.currentTarget.dispatchEvent(new RuleOpenEvent(rule)) }, rule)));
  }

  clear() {
    delete this.element.dataset.severity;
    this.#control.removeAttribute('aria-invalid');
    this.#findings.replaceChildren();
  }
}
