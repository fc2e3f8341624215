// A text of a peer, of which the first lines are shown until somebody wants the rest.

import { make } from '../../model/dom.js';
import { inline } from '../markdown.js';

/** More characters than these are folded. */
const SHORT = 220;

/** @param {string} text */
export function longText(text) {
  if (text.length <= SHORT) return make('p', { class: 'quiet' }, ...inline(text));
  const cut = text.lastIndexOf(' ', SHORT);
  const head = text.slice(0, cut > 0 ? cut : SHORT);
  return make('details', { class: 'long quiet' }, make('summary', {}, make('span', { class: 'head' }, ...inline(`${head}…`))), make('p', {}, ...inline(text)));
}
