// A field for an object: one field for each property, and further members by name.

import { make } from '../../model/dom.js';
import * as json from '../../model/json.js';
import { isObject } from '../../model/schema.js';
import { FieldFrame, newId } from './frame.js';

/** @import { JsonNode } from '../../model/json.js' */
/** @import { Schema } from '../../model/schema.js' */
/** @import { Field, FieldContext, FieldPlace } from './field.js' */

/** Maximum number of property fields; further members are added by name. */
const MOST = 200;

/** @param {Schema} schema @param {FieldContext} context @param {FieldPlace} place @returns {Field} */
export function objectField(schema, context, place) {
  const properties = Object.entries(isObject(schema.properties) ? schema.properties : {}).slice(0, MOST);
  const required = new Set(Array.isArray(schema.required) ? schema.required : []);
  /** @type {Map<string, Field>} */
  const fields = new Map();
  /** @type {{ name: HTMLInputElement, field: Field, line: HTMLElement }[]} */
  let others = [];
  const body = make('div', { class: 'fields' });
  const more = make('div', { class: 'fields' });
  const add = make('button', { type: 'button', class: 'add', click: () => addOther('', true) }, 'Add another member');
  const control = make('div', {}, body, more, add);
  const frame = new FieldFrame(schema, place, control, { isGroup: true, toggled: () => {
    show();
    context.changed();
  } });
  // Other members can be added if the schema mentions them, or has no properties.
  add.hidden = schema.additionalProperties === false || (schema.additionalProperties === undefined && properties.length > 0);

  // A schema may contain itself, so fields of values that are not sent are not created.
  const show = () => {
    frame.isSent = frame.isSent;
    control.hidden = !frame.isSent;
    if (!frame.isSent || fields.size) return;
    for (const [name, of] of properties) {
      const field = context.create(of, { name, isRequired: required.has(name), canLeaveOut: true, depth: place.depth + 1 });
      fields.set(name, field);
      body.append(field.element);
    }
  };
  /** @param {string} name @param {boolean} isNew */
  const addOther = (name, isNew) => {
    const input = make('input', { id: newId(), value: name, 'aria-label': 'name of the member', placeholder: 'name', input: context.changed });
    const of = isObject(schema.additionalProperties) ? schema.additionalProperties : {};
    const field = context.create(of, { name: 'value', isRequired: false, canLeaveOut: false, depth: place.depth + 1 });
    const remove = make('button', { type: 'button', class: 'remove', 'aria-label': `remove ${name || 'the member'}`, click: () => {
      others = others.filter(other => other.line !== line);
      line.remove();
      context.changed();
    } }, '×');
    const line = make('div', { class: 'entry' }, input, field.element, remove);
    others.push({ name: input, field, line });
    more.append(line);
    if (!isNew) return field;
    input.focus();
    context.changed();
    return field;
  };
  /** @param {JsonNode} node @param {string} source */
  const fill = (node, source) => {
    const given = new Map();
    for (const member of node.members ?? []) {
      const name = json.keyText(member.key);
      if (given.has(name) || JSON.stringify(name) !== member.key) return false; // It would be lost or respelled.
      given.set(name, member.value);
    }
    for (const { line } of others) line.remove();
    others = [];
    let isShown = true;
    for (const [name, field] of fields) {
      isShown = field.write(given.get(name) ?? null, source) && isShown;
      given.delete(name);
    }
    for (const [name, value] of given) isShown = addOther(name, false).write(value, source) && isShown;
    return isShown;
  };
  frame.isSent = !place.canLeaveOut || place.isRequired;
  show();
  /** @type {Field} */
  const field = {
    element: frame.element,
    read: () => {
      if (!frame.isSent) return undefined;
      const members = [];
      for (const [name, field] of fields) {
        const text = field.read();
        if (text !== undefined) members.push(`${JSON.stringify(name)}:${text}`);
      }
      for (const { name, field } of others) {
        const text = field.read();
        if (text !== undefined) members.push(`${JSON.stringify(name.value)}:${text}`);
      }
      return `{${members.join(',')}}`;
    },
    write: (node, source) => {
      frame.isSent = !!node;
      show();
      return !node || node.kind === 'object' && fill(node, source);
    },
    mark: ([step, ...rest], finding) => {
      const field = step === undefined ? undefined : fields.get(step) ?? others.find(({ name }) => name.value === step)?.field;
      if (field) field.mark(rest, finding); else frame.mark(finding);
    },
    clear: () => {
      frame.clear();
      for (const field of fields.values()) field.clear();
      for (const { field } of others) field.clear();
    },
  };
  const given = isObject(schema.default) ? JSON.stringify(schema.default) : undefined;
  const root = given === undefined ? null : json.read(given);
  if (root && given !== undefined) field.write(root, given);
  return field;
}
