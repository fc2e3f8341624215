// A field for a value with alternatives (`oneOf`, `anyOf`).

import { make } from '../../model/dom.js';
import { branchesOf, resolve, seemsMeant, titleOf } from '../../model/schema.js';
import { FieldFrame, newId } from './frame.js';

/** @import { Schema } from '../../model/schema.js' */
/** @import { Field, FieldContext, FieldPlace } from './field.js' */

/** @param {Schema} schema @param {FieldContext} context @param {FieldPlace} place @returns {Field} */
export function choiceField(schema, context, place) {
  const branches = branchesOf(schema).map(branch => resolve(branch, context.root));
  const { description, title } = schema;
  const select = make('select', { 'aria-label': place.name ? `kind of ${place.name}` : 'kind of arguments', id: newId() });
  for (const [index, branch] of branches.entries()) select.append(make('option', { value: index }, titleOf(branch, index)));
  const holder = make('div');
  const frame = new FieldFrame({ description, title, type: 'one of' }, place, make('div', { class: 'choice' }, select, holder), { isGroup: true, toggled: () => {
    frame.isSent = frame.isSent;
    context.changed();
  } });
  /** @type {Field} */
  let chosen;
  const choose = (/** @type {number} */ index) => {
    select.value = String(index);
    // The choice has the name and the checkbox itself.
    const { description: _, default: __, ...rest } = branches[index] ?? {};
    chosen = context.create(rest, { name: '', isRequired: true, canLeaveOut: false, depth: place.depth + 1 });
    holder.replaceChildren(chosen.element);
  };
  select.addEventListener('change', () => {
    frame.isSent = true;
    const before = chosen.read();
    choose(Number(select.value));
    carryOver(chosen, before);
    context.changed();
  });
  choose(0);
  frame.isSent = !place.canLeaveOut || place.isRequired;
  /** @type {Field} */
  const field = {
    element: frame.element,
    read: () => frame.isSent ? chosen.read() : undefined,
    write: (node, source) => {
      frame.isSent = !!node;
      if (!node) return true;
      const now = Number(select.value);
      const order = [now, ...branches.map((_, index) => index).filter(index => index !== now)];
      const index = order.find(index => seemsMeant(branches[index], node, source, context.root)) ?? now;
      if (index !== now) choose(index);
      return chosen.write(node, source);
    },
    mark: (steps, finding) => { if (steps.length) chosen.mark(steps, finding); else frame.mark(finding); },
    clear: () => {
      frame.clear();
      chosen.clear();
    },
  };
  return field;
}

/** Keeps values that both alternatives have, such as members with the same name. @param {Field} field @param {string | undefined} before */
function carryOver(field, before) {
  try {
    const [was, is] = [JSON.parse(before ?? 'null'), JSON.parse(field.read() ?? 'null')];
    if (!was || !is || Array.isArray(was) || typeof was !== 'object' || typeof is !== 'object') return;
    for (const name of Object.keys(was)) {
      const place = field.element.querySelector(`:scope [data-field="${CSS.escape(name)}"] :is(input:not([type=checkbox]), textarea)`);
      if (!(place instanceof HTMLInputElement || place instanceof HTMLTextAreaElement) || typeof was[name] !== 'string' && typeof was[name] !== 'number') continue;
      place.value = String(was[name]);
      place.dispatchEvent(new Event('input'));
    }
  } catch {
    // Nothing to carry over.
  }
}
