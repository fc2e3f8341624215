// The documentation of a rule, as `plumb explain` prints it.

import * as api from '../model/api.js';
import { make } from '../model/dom.js';
import { openDialog } from './dialog.js';
import { markdown } from './markdown.js';

/** @param {string} name */
export async function openRule(name) {
  try {
    const { level, layer, revisions, spec, docs } = await api.rule(name);
    openDialog(name,
      make('p', { class: 'quiet' }, `${level} · layer ${layer} · ${revisions.join(', ')}`),
      spec && make('p', { class: 'quiet' }, 'Specification: ', make('code', {}, spec)),
      make('div', { class: 'rule-docs' }, markdown(docs)));
  } catch (error) {
    openDialog(name, make('p', { role: 'alert' }, error instanceof Error ? error.message : String(error)));
  }
}
