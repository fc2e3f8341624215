// The keys.

import { make } from '../model/dom.js';

const KEYS = [
  ['j k ↓ ↑', 'next, previous frame'], ['Enter', 'open the selected frame'], ['Esc', 'back to the list, clear the filter'],
  ['/', 'filter'], ['n N', 'next, previous finding'], ['p', 'the paired frame'], ['r', 'send the selected frame of the client again'],
  ['e', 'change it, then send it again'], ['y', 'copy the frame: text, NDJSON, recording, curl'], ['f', 'follow the newest, or not'],
  ['Space', 'pause, or go on'], ['Ctrl+Enter', 'send what is in the Speak view'], ['?', 'this help'],
];

export function openHelp() {
  const body = make('tbody');
  for (const [key, words] of KEYS) {
    const keys = make('th', { scope: 'row' });
    for (const one of key.split(' ')) keys.append(make('kbd', {}, one), ' ');
    body.append(make('tr', {}, keys, make('td', {}, words)));
  }
  const dialog = make('dialog', { 'aria-label': 'keys' }, make('h2', {}, 'Keys'), make('table', {}, body));
  dialog.append(make('button', { click: () => dialog.close() }, 'Close'));
  dialog.addEventListener('close', () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}
