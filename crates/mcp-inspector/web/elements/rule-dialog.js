// What a rule demands: the text of `plumb explain`.

import * as api from '../model/api.js';
import { make } from '../model/dom.js';
import { markdown } from './markdown.js';

/** @param {string} name */
export async function openRule(name) {
  const dialog = make('dialog', { 'aria-label': `rule ${name}` });
  dialog.addEventListener('close', () => dialog.remove());
  dialog.addEventListener('click', event => { if (event.target === dialog) dialog.close(); });
  document.body.append(dialog);
  try {
    const rule = await api.rule(name);
    const facts = `${rule.level} · layer ${rule.layer} · ${rule.revisions.join(', ')}`;
    dialog.append(
      make('h2', { class: 'mono' }, rule.name),
      make('p', { class: 'quiet' }, facts),
      rule.spec ? make('p', { class: 'quiet' }, `specification: ${rule.spec}`) : '',
      make('div', { class: 'rule-docs' }, markdown(rule.docs)));
  } catch (error) {
    dialog.append(make('p', { role: 'alert' }, error instanceof Error ? error.message : String(error)));
  }
  dialog.append(make('button', { click: () => dialog.close() }, 'Close'));
  dialog.showModal();
}
