// A text from a peer, collapsed to its beginning if it is long.

import { make } from '../../model/dom.js';
import { inline } from '../markdown.js';

/** Longer texts are collapsed. */
const SHORT = 220;

/** @param {string} text */
export function longText(text) {
  if (text.length <= SHORT) return make('p', { class: 'quiet' }, ...inline(text));
  const cut = text.lastIndexOf(' ', SHORT);
  const head = text.slice(0, cut > 0 ? cut : SHORT);
  return make('details', { class: 'long quiet' }, make('summary', {}, make('span', { class: 'head' }, ...inline(`${head}…`))), make('p', {}, ...inline(text)));
}
