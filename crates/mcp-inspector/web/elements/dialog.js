// A dialog with a title and a close button. Escape and a click outside also close it.

import { make } from '../model/dom.js';

/** @param {string} title @param {...(Node | string | undefined | null | false)} parts */
export function openDialog(title, ...parts) {
  const close = make('button', { click: () => dialog.close() }, 'Close');
  const dialog = make('dialog', { 'aria-label': title }, make('header', { class: 'dialog-head' }, make('h2', {}, title), close), ...parts);
  dialog.addEventListener('click', event => { if (event.target === dialog) dialog.close(); });
  dialog.addEventListener('close', () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
  // Without this, the first link would get the focus, which may be far down.
  close.focus({ preventScroll: true });
  return dialog;
}
