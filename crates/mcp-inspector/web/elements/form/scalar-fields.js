// Fields for strings, numbers, constants and enumerations.

import { make } from '../../model/dom.js';
import * as json from '../../model/json.js';
import { sameText } from '../../model/schema.js';
import { FieldFrame, newId } from './frame.js';

/** @import { Schema } from '../../model/schema.js' */
/** @import { Field, FieldContext, FieldPlace } from './field.js' */

const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/** @param {Schema} schema @param {FieldContext} context @param {FieldPlace} place @returns {Field} */
export function stringField(schema, context, place) {
  const input = make('textarea', { id: newId(), rows: 1, spellcheck: 'false', autocomplete: 'off' });
  const shown = make('div', { class: 'with-button' }, input);
  const frame = new FieldFrame(schema, place, input, { shown, toggled: () => settle(frame, input, context) });
  shown.append(...completer(input, frame, context, place));
  return typedField(schema, context, frame, input, {
    read: () => JSON.stringify(input.value),
    write: (node, text) => {
      if (node.kind !== 'string') return false;
      input.value = JSON.parse(text);
      // A lone surrogate or another spelling of a character would be changed.
      return JSON.stringify(input.value) === text || !/\\u/i.test(text);
    },
  });
}

/** @param {Schema} schema @param {FieldContext} context @param {FieldPlace} place @returns {Field} */
export function numberField(schema, context, place) {
  const input = make('input', { id: newId(), type: 'text', inputmode: 'decimal', spellcheck: 'false', autocomplete: 'off' });
  const frame = new FieldFrame(schema, place, input, { toggled: () => settle(frame, input, context) });
  return typedField(schema, context, frame, input, {
    // Text that is not a number is sent as a string, and reported as a finding.
    read: () => NUMBER.test(input.value.trim()) ? input.value.trim() : JSON.stringify(input.value),
    write: (node, text) => {
      if (node.kind === 'number') input.value = text;
      else if (node.kind === 'string' && !NUMBER.test(JSON.parse(text).trim())) input.value = JSON.parse(text);
      else return false;
      return true;
    },
  });
}

/** @param {Schema} schema @param {unknown[]} values @param {FieldContext} context @param {FieldPlace} place @returns {Field} */
export function enumField(schema, values, context, place) {
  const names = Array.isArray(schema.enumNames) ? schema.enumNames : [];
  const select = make('select', { id: newId() }, make('option', { value: '' }, place.canLeaveOut ? 'leave out' : 'choose'));
  for (const [index, value] of values.entries()) {
    const text = JSON.stringify(value);
    const words = typeof value === 'string' ? (names[index] ? `${names[index]} (${value})` : value) : text;
    select.append(make('option', { value: text }, words || '(empty string)'));
  }
  const frame = new FieldFrame(schema, place, select, { toggled: () => {
    select.value = frame.isSent ? JSON.stringify(values[0]) : '';
    context.changed();
  } });
  select.addEventListener('change', () => {
    frame.isSent = select.value !== '';
    context.changed();
  });
  /** @type {Field} */
  const field = {
    element: frame.element,
    read: () => select.value || undefined,
    write: (node, source) => {
      const text = node ? source.slice(node.start, node.end) : '';
      const value = values.find(value => sameText(text, value));
      if (node && value === undefined && text !== 'null') return false;
      select.value = node ? JSON.stringify(value ?? null) : '';
      frame.isSent = !!node;
      return !node || select.value !== '';
    },
    mark: (_, finding) => frame.mark(finding),
    clear: () => frame.clear(),
  };
  begin(schema, field, place);
  return field;
}

/** @param {Schema} schema @param {FieldContext} context @param {FieldPlace} place @returns {Field} */
export function constField(schema, context, place) {
  const text = JSON.stringify(schema.const);
  const shown = make('output', { id: newId(), class: 'mono' }, text);
  const frame = new FieldFrame(schema, place, shown, { toggled: context.changed });
  // There is only one possible value.
  frame.isSent = place.isRequired || !place.canLeaveOut;
  return {
    element: frame.element,
    read: () => frame.isSent ? text : undefined,
    write: (node, source) => {
      frame.isSent = !!node;
      return !node || sameText(source.slice(node.start, node.end), schema.const);
    },
    mark: (_, finding) => frame.mark(finding),
    clear: () => frame.clear(),
  };
}

/**
 * @param {Schema} schema
 * @param {FieldContext} context
 * @param {FieldFrame} frame
 * @param {HTMLInputElement | HTMLTextAreaElement} input
 * @param {{ read: () => string, write: (node: json.JsonNode, text: string) => boolean }} how
 * @returns {Field}
 */
export function typedField(schema, context, frame, input, { read, write }) {
  input.addEventListener('input', () => {
    frame.isSent = true;
    fit(input);
    context.changed();
  });
  /** @type {Field} */
  const field = {
    element: frame.element,
    read: () => frame.isSent ? read() : undefined,
    write: (node, source) => {
      frame.isSent = !!node;
      if (!node) input.value = '';
      const done = !node || write(node, source.slice(node.start, node.end));
      fit(input);
      return done;
    },
    mark: (_, finding) => frame.mark(finding),
    clear: () => frame.clear(),
  };
  frame.isSent = frame.isSent;
  begin(schema, field, null);
  return field;
}

/** @param {HTMLInputElement | HTMLTextAreaElement} input */
function fit(input) {
  if (input instanceof HTMLTextAreaElement) input.rows = Math.min(12, Math.max(1, input.value.split('\n').length));
}

/** @param {FieldFrame} frame @param {HTMLElement} input @param {FieldContext} context */
function settle(frame, input, context) {
  frame.isSent = frame.isSent;
  if (frame.isSent) input.focus();
  context.changed();
}

/** Fills in the default of the schema. @param {Schema} schema @param {Field} field @param {FieldPlace | null} place */
function begin(schema, field, place) {
  const given = Object.hasOwn(schema, 'default') ? JSON.stringify(schema.default) : undefined;
  const root = given === undefined ? null : json.read(given);
  if (root && given !== undefined && !field.write(root, given)) field.write(null, '');
  else if (!root && place) field.write(null, '');
}

/** A button that asks the server for completions, if it supports them.
 * @param {HTMLTextAreaElement} input @param {FieldFrame} frame @param {FieldContext} context @param {FieldPlace} place */
function completer(input, frame, context, place) {
  const { complete } = context;
  if (!complete) return [];
  const list = make('div', { class: 'completions', role: 'listbox', 'aria-label': `values for ${place.name}` });
  const choose = (/** @type {string} */ value) => {
    input.value = value;
    frame.isSent = true;
    list.replaceChildren();
    input.focus();
    context.changed();
  };
  const button = make('button', { type: 'button', title: 'Ask the server for values that begin with this text', click: async () => {
    const values = await complete(place.name, input.value).catch(() => []);
    list.replaceChildren(...values.slice(0, 100).map(value => make('button', { type: 'button', role: 'option', click: () => choose(value) }, value)));
    if (!values.length) list.replaceChildren(make('span', { class: 'quiet' }, 'the server suggests no values'));
  } }, 'Complete');
  return [button, list];
}
