// Help on keys and filter terms.

import { make } from '../model/dom.js';
import { TERMS_IN_WORDS } from '../model/filter.js';
import { openDialog } from './dialog.js';

const KEYS = [
  ['j k ↓ ↑', 'next and previous frame'], ['n N', 'next and previous finding'], ['p', 'the request or answer that belongs to it'],
  ['Enter', 'open the selected frame'], ['Esc', 'back to the list; clear the filter'], ['/', 'filter'], ['h', 'highlight'],
  ['r', 'send the selected frame again'], ['e', 'edit it, then send it again'], ['Ctrl+Enter', 'send the composed message'],
  ['y', 'copy: text, NDJSON, recording line, curl'], ['f', 'start or stop following new frames'], ['Space', 'pause or resume'], ['?', 'this help'],
];

export function openHelp() {
  const keys = make('tbody');
  for (const [key, words] of KEYS) {
    const cell = make('th', { scope: 'row' });
    for (const one of key.split(' ')) cell.append(make('kbd', {}, one), ' ');
    keys.append(make('tr', {}, cell, make('td', {}, words)));
  }
  const terms = make('tbody');
  for (const [term, words] of TERMS_IN_WORDS) {
    terms.append(make('tr', {}, make('th', { scope: 'row' }, make('code', {}, term)), make('td', {}, words)));
  }
  openDialog('Keys and filter terms', make('div', { class: 'help-columns' },
    make('section', {}, make('h3', {}, 'Keys'), make('table', {}, keys)),
    make('section', {}, make('h3', {}, 'Filter'), make('table', {}, terms))));
}
