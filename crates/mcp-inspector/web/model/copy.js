// Formats for copying a frame.

import { compact } from './json-text.js';

/** @import { Detail } from '../api' */

/** Quotes a text for a shell. @param {string} text */
const quoted = text => `'${text.replaceAll("'", "'\\''")}'`;

/** The message on one line. @param {Detail} detail */
export const asNdjson = ({ text = '' }) => compact(text);

/** Whether a frame is an HTTP request. @param {Detail} detail */
export const isHttpRequest = ({ http }) => !!http?.method && !!http.url;

/** Headers that curl sets itself. */
const OWN = ['content-length', 'host', 'connection', 'transfer-encoding'];

/** A curl command that sends it. @param {Detail} detail */
export function asCurl({ http, text = '' }) {
  const lines = [`curl --no-buffer -X ${quoted(http?.method ?? 'POST')} ${quoted(http?.url ?? '')}`];
  for (const [name, value] of Object.entries(http?.headers ?? {})) {
    if (OWN.includes(name.toLowerCase())) continue;
    for (const one of [value].flat()) lines.push(`-H ${quoted(`${name}: ${one}`)}`);
  }
  if (text) lines.push(`--data-binary ${quoted(text)}`);
  return lines.join(' \\\n  ');
}
