// Ways to copy a frame.

import * as api from '../model/api.js';
import { asCurl, asNdjson, isHttpRequest } from '../model/copy.js';
import { make } from '../model/dom.js';
import { openDialog } from './dialog.js';

/** @param {number} number */
export async function openCopyMenu(number) {
  const detail = await api.frame(number).catch(() => null);
  if (!detail) return;
  /** @type {[string, string, () => string | Promise<string>][]} */
  const ways = [
    ['t', 'text, as sent', () => detail.text ?? detail.base64 ?? ''],
    ['n', 'NDJSON, on one line', () => asNdjson(detail)],
    ['l', 'line of the recording', () => api.line(number)],
  ];
  if (isHttpRequest(detail)) ways.push(['c', 'curl command', () => asCurl(detail)]);
  const status = make('p', { role: 'status', class: 'quiet' }, detail.cutFrom ? 'Only the beginning of this frame is available here.' : '');
  const list = make('ul', { class: 'menu' });
  const copy = async (/** @type {string | Promise<string>} */ wanted) => {
    const text = await wanted;
    try {
      await navigator.clipboard.writeText(text);
      dialog.close();
    } catch {
      // Without permission, offer the text for selection.
      const area = make('textarea', { class: 'mono', rows: 6, readonly: true, 'aria-label': 'text to copy' });
      area.value = text;
      status.replaceChildren('The browser does not let this page use the clipboard. Copy the text from here:', area);
      area.select();
    }
  };
  for (const [key, words, text] of ways) {
    list.append(make('li', {}, make('button', { 'data-way': key, click: () => copy(text()) }, make('kbd', {}, key), ` ${words}`)));
  }
  const dialog = openDialog(`Copy frame #${number}`, list, status);
  dialog.addEventListener('keydown', event => {
    const way = ways.find(([key]) => key === event.key);
    if (!way || event.ctrlKey || event.metaKey || event.target instanceof HTMLTextAreaElement) return;
    event.preventDefault();
    copy(way[2]());
  });
}
