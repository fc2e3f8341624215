// The facts about a frame, and the actions for it.

import { make } from '../model/dom.js';
import { clock, duration, name, size } from '../model/format.js';
import { openCopyMenu } from './copy-menu.js';
import { DetailCloseEvent, FrameAgainEvent, FrameSelectEvent } from './events.js';
import { canReplay } from './speak/replay.js';

/** @import { Detail } from '../api' */

/** @param {Detail} detail @param {boolean} canSend whether there is a server to send to */
export function detailHead(detail, canSend) {
  const { row } = detail;
  const button = (/** @type {string} */ words, /** @type {string} */ title, /** @type {(from: Element) => void} */ act, kind = '') =>
    make('button', { class: kind, title, click: event => act(event.currentTarget) }, words);
  const actions = make('div', { class: 'detail-actions' },
    button('Copy', 'Copy as text, NDJSON, recording line or curl (y)', () => openCopyMenu(row.number)));
  if (canSend && canReplay(row)) {
    actions.append(button('Send again', 'Send it again unchanged, with a new id (r)', from => from.dispatchEvent(new FrameAgainEvent(row.number, false))),
      button('Edit', 'Edit it, then send it (e)', from => from.dispatchEvent(new FrameAgainEvent(row.number, true))));
  }
  actions.append(button('Close', 'Back to the list (Esc)', from => from.dispatchEvent(new DetailCloseEvent()), 'close-detail'));
  return make('header', {}, make('div', { class: 'detail-head' }, make('h2', {}, `#${row.number} ${name(row)}`), actions), facts(detail));
}

/** @param {Detail} detail */
function facts({ row, pair, cutFrom }) {
  const list = make('dl', { class: 'fact-line' });
  const fact = (/** @type {string} */ term, /** @type {string | Node | undefined} */ words) => {
    if (words) list.append(make('div', {}, make('dt', {}, term), make('dd', {}, words)));
  };
  fact('sent by', row.byProxy ? `plumb, on behalf of the ${row.from}` : row.from && `the ${row.from}`);
  fact('at', clock(row.at));
  fact('id', row.id && make('code', {}, row.id));
  fact('size', cutFrom ? `${size(cutFrom)}; only the beginning is shown` : size(row.bytes));
  fact('session', row.session);
  if (row.heldBack) fact('held back', 'it did not reach the other side');
  if (pair) {
    fact(row.kind === 'request' ? 'answered by' : 'answers', make('button', { class: 'link', 'data-pair': pair.number, title: 'Go to it (p)',
      click: event => event.currentTarget.dispatchEvent(new FrameSelectEvent(pair.number)) }, `#${pair.number} ${name(pair)}`));
    fact('took', duration(row.took));
  } else if (row.kind === 'request') {
    fact('answered by', 'nothing yet');
  }
  return list;
}
