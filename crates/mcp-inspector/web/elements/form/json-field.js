// A field for other values, edited as JSON.

import { make } from '../../model/dom.js';
import * as json from '../../model/json.js';
import { pretty } from '../../model/json-text.js';
import { FieldFrame, newId } from './frame.js';
import { typedField } from './scalar-fields.js';

/** @import { Schema } from '../../model/schema.js' */
/** @import { Field, FieldContext, FieldPlace } from './field.js' */

/** @param {Schema} schema @param {FieldContext} context @param {FieldPlace} place @returns {Field} */
export function jsonField(schema, context, place) {
  const input = make('textarea', { id: newId(), rows: 1, class: 'mono', spellcheck: 'false', placeholder: 'JSON; other text is sent as a string' });
  const frame = new FieldFrame(schema, place, input, { toggled: () => {
    frame.isSent = frame.isSent;
    context.changed();
  } });
  return typedField(schema, context, frame, input, {
    read: () => json.read(input.value) ? input.value.trim() : JSON.stringify(input.value),
    write: (_, text) => {
      input.value = pretty(text);
      return true;
    },
  });
}
