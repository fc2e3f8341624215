// A field for an array, with entries that can be added and removed.

import { make } from '../../model/dom.js';
import * as json from '../../model/json.js';
import { FieldFrame } from './frame.js';

/** @import { Schema } from '../../model/schema.js' */
/** @import { Field, FieldContext, FieldPlace } from './field.js' */

/** Longer arrays are edited as JSON. */
const MOST = 200;

/** @param {Schema} schema @param {FieldContext} context @param {FieldPlace} place @returns {Field} */
export function arrayField(schema, context, place) {
  /** @type {{ field: Field, line: HTMLElement }[]} */
  let entries = [];
  const list = make('div', { class: 'fields' });
  const add = make('button', { type: 'button', class: 'add', 'aria-label': `add an entry to ${place.name || 'the list'}`, click: () => {
    frame.isSent = true;
    append();
    context.changed();
  } }, 'Add entry');
  const control = make('div', {}, list, add);
  const frame = new FieldFrame(schema, place, control, { isGroup: true, toggled: () => {
    frame.isSent = frame.isSent;
    context.changed();
  } });
  const schemaAt = (/** @type {number} */ index) => schema.prefixItems?.[index] ?? (Array.isArray(schema.items) ? schema.items[index] : schema.items) ?? {};
  const append = () => {
    const index = entries.length;
    const field = context.create(schemaAt(index), { name: `${index + 1}`, isRequired: false, canLeaveOut: false, depth: place.depth + 1 });
    const line = make('div', { class: 'entry' }, field.element, make('button', { type: 'button', class: 'remove', 'aria-label': `remove entry ${index + 1}`, click: () => {
      entries = entries.filter(entry => entry.line !== line);
      line.remove();
      context.changed();
    } }, '×'));
    entries.push({ field, line });
    list.append(line);
    return field;
  };
  frame.isSent = !place.canLeaveOut || place.isRequired;
  /** @type {Field} */
  const field = {
    element: frame.element,
    // An entry without a value still counts.
    read: () => frame.isSent ? `[${entries.map(({ field }) => field.read() ?? 'null').join(',')}]` : undefined,
    write: (node, source) => {
      frame.isSent = !!node;
      for (const { line } of entries) line.remove();
      entries = [];
      if (!node) return true;
      if (node.kind !== 'array' || (node.elements?.length ?? 0) > MOST) return false;
      return (node.elements ?? []).reduce((isShown, element) => append().write(element, source) && isShown, true);
    },
    mark: ([step, ...rest], finding) => {
      const entry = step === undefined ? undefined : entries[Number(step)];
      if (entry) entry.field.mark(rest, finding); else frame.mark(finding);
    },
    clear: () => {
      frame.clear();
      for (const { field } of entries) field.clear();
    },
  };
  const given = Array.isArray(schema.default) ? JSON.stringify(schema.default) : undefined;
  const root = given === undefined ? null : json.read(given);
  if (root && given !== undefined) field.write(root, given);
  return field;
}
