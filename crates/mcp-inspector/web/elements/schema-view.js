// The schemas that a frame is checked against: those listed by the server, and that of the specification.

import * as api from '../model/api.js';
import { make } from '../model/dom.js';
import * as json from '../model/json.js';
import { FrameSelectEvent } from './events.js';

/** @import { SchemaView } from '../api' */
/** @import { JsonTreeElement } from './json-tree.js' */

/** @param {number} number */
export function schemaView(number) {
  const place = make('div', { class: 'schemas' }, make('p', { class: 'quiet' }, 'Loading…'));
  api.schemas(number).then(
    schemas => place.replaceChildren(...schemas.length ? schemas.map(shown) : [make('p', { class: 'quiet' }, 'No schema is known for this frame.')]),
    error => place.replaceChildren(make('p', { class: 'empty', role: 'alert' }, error instanceof Error ? error.message : String(error))));
  return place;
}

/** @param {SchemaView} view */
function shown({ title, frame, schema }) {
  const text = JSON.stringify(schema);
  const root = json.read(text);
  const tree = /** @type {JsonTreeElement} */ (document.createElement('plumb-json-tree'));
  const source = frame === undefined ? make('span', { class: 'quiet' }, 'from the specification')
    : make('button', { class: 'link', click: event => event.currentTarget.dispatchEvent(new FrameSelectEvent(frame)) }, `the server sent it in #${frame}`);
  const section = make('section', { 'data-schema': title }, make('h3', {}, title), source, tree);
  if (root) tree.show(text, root, []);
  return section;
}
