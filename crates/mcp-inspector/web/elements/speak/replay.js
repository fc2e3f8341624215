// Sends an earlier frame again, after a confirmation if that may do harm.

import * as api from '../../model/api.js';
import { make } from '../../model/dom.js';
import * as speak from '../../model/speak-api.js';
import { openDialog } from '../dialog.js';

/** @import { Row } from '../../api' */
/** @import { Speak } from '../../model/speak.js' */

/** Whether a frame is one that can be sent again. @param {Row | undefined} row */
export const canReplay = row => row?.from === 'client' && ['request', 'notification', 'malformed', 'text', 'batch'].includes(row.kind);

/**
 * What was sent, or nothing if the user cancelled.
 * @param {Row} row
 * @param {Speak} model
 */
export async function replay(row, model) {
  const danger = dangerOf(row, model);
  if (danger && !await confirm(danger)) return null;
  return speak.replay(row.number);
}

/** @param {number} number */
export const textOf = async number => (await api.frame(number)).text ?? '';

/** @param {Row} row @param {Speak} model */
function dangerOf({ method, target }, model) {
  if (method !== 'tools/call') return '';
  const tool = model.tool(target);
  if (tool?.readOnly) return '';
  if (tool?.destructive) return `The server says that the tool ${target} may be destructive.`;
  return tool ? `The server does not say that the tool ${target} is read-only.` : `It is not known whether the tool ${target ?? ''} is read-only.`;
}

/** @param {string} danger @returns {Promise<boolean>} */
export function confirm(danger) {
  const { promise, resolve } = Promise.withResolvers();
  const send = make('button', { class: 'main', click: () => dialog.close('yes') }, 'Send again');
  const dialog = openDialog('Send it again?', make('p', {}, danger), make('div', { class: 'buttons' }, send));
  dialog.addEventListener('close', () => resolve(dialog.returnValue === 'yes'));
  return promise;
}
