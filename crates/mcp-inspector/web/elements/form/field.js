// Creates the field for a schema. A field reads and writes JSON text, so that exactly what was typed is sent.

import { kindOf, resolve } from '../../model/schema.js';
import { arrayField } from './array-field.js';
import { choiceField } from './choice-field.js';
import { jsonField } from './json-field.js';
import { objectField } from './object-field.js';
import { constField, enumField, numberField, stringField } from './scalar-fields.js';

/** @import { Finding } from '../../api' */
/** @import { JsonNode } from '../../model/json.js' */
/** @import { Schema } from '../../model/schema.js' */

/**
 * @typedef {object} Field
 * @property {HTMLElement} element
 * @property {() => string | undefined} read the JSON text, or `undefined` if the value is left out
 * @property {(node: JsonNode | null, source: string) => boolean} write sets a value, or leaves it out; returns whether the field can show it
 * @property {(steps: string[], finding: Finding) => void} mark shows a finding at a place in it
 * @property {() => void} clear removes the marks
 */

/**
 * @typedef {object} FieldContext what all fields of a form share
 * @property {Schema} root
 * @property {() => void} changed
 * @property {(schema: unknown, place: FieldPlace) => Field} create
 * @property {((name: string, value: string) => Promise<string[]>) | null} complete asks the server for completions of a value
 */

/**
 * @typedef {object} FieldPlace the position of a field
 * @property {string} name
 * @property {boolean} isRequired
 * @property {boolean} canLeaveOut
 * @property {number} depth
 */

/** Deeper values are edited as JSON. */
const DEEPEST = 8;

/**
 * @param {Schema} root
 * @param {() => void} changed
 * @param {FieldContext['complete']} complete
 * @returns {Field}
 */
export function formFor(root, changed, complete = null) {
  /** @type {FieldContext} */
  const context = { root, changed, complete, create: (schema, place) => create(resolve(schema, root), context, place) };
  return context.create(root, { name: '', isRequired: true, canLeaveOut: false, depth: 0 });
}

/** @param {Schema} schema @param {FieldContext} context @param {FieldPlace} place @returns {Field} */
function create(schema, context, place) {
  if (place.depth > DEEPEST) return jsonField(schema, context, place);
  switch (kindOf(schema)) {
    case 'const': return constField(schema, context, place);
    case 'enum': return enumField(schema, schema.enum, context, place);
    case 'boolean': return enumField(schema, [true, false], context, place);
    case 'null': return constField({ ...schema, const: null }, context, place);
    case 'string': return stringField(schema, context, place);
    case 'number': case 'integer': return numberField(schema, context, place);
    case 'choice': return choiceField(schema, context, place);
    case 'object': return objectField(schema, context, place);
    case 'array': return arrayField(schema, context, place);
    default: return jsonField(schema, context, place);
  }
}
