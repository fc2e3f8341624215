// The differences between two answers.

import { differences } from '../../model/diff.js';
import { make } from '../../model/dom.js';

const LONGEST = 500;

/** @param {string} before @param {string} after */
export function differenceTable(before, after) {
  const found = differences(before, after);
  if (!found) return make('p', { class: 'quiet' }, before === after ? 'The texts are identical.' : 'The texts differ; one of them is not JSON.');
  // The ids always differ.
  const shown = found.filter(({ path }) => path !== '/id');
  if (!shown.length) return make('p', { class: 'quiet', 'data-same': true }, 'Identical except for the id.');
  const value = (/** @type {string | undefined} */ text) => text === undefined ? make('span', { class: 'quiet' }, 'nothing')
    : text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
  const body = make('tbody');
  for (const { path, before, after } of shown) {
    body.append(make('tr', { 'data-path': path }, make('td', { class: 'mono' }, path || '(the whole message)'),
      make('td', { class: 'mono was' }, value(before)), make('td', { class: 'mono is' }, value(after))));
  }
  const head = make('tr');
  for (const title of ['where', 'first answer', 'this answer']) head.append(make('th', { scope: 'col' }, title));
  return make('table', { class: 'data differences' }, make('thead', {}, head), body);
}
