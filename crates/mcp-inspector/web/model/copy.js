// A frame as something to take elsewhere.

import { compact } from './json-text.js';

/** @import { Detail } from '../api' */

/** What the shell reads as one word. @param {string} text */
const quoted = text => `'${text.replaceAll("'", "'\\''")}'`;

/** The message on one line. @param {Detail} detail */
export const asNdjson = ({ text = '' }) => compact(text);

/** As a line of a recording, which `plumb check` reads. @param {Detail} detail */
export function asTraceLine({ row, text = '', http, base64 }) {
  const members = [];
  if (row.at !== undefined) members.push(`"ts":${JSON.stringify(new Date(row.at).toISOString())}`);
  if (row.from) members.push(`"from":"${row.from}"`);
  if (row.session) members.push(`"session":${JSON.stringify(row.session)}`);
  if (http) members.push(`"http":${JSON.stringify(http)}`);
  const isText = base64 !== undefined || ['text', 'stderr'].includes(row.kind);
  if (isText) members.push(`"raw":${JSON.stringify(base64 === undefined ? text : atob(base64))}`);
  else if (text) members.push(`"msg":${compact(text)}`);
  return `{${members.join(',')}}`;
}

/** Whether a frame is an HTTP request. @param {Detail} detail */
export const isHttpRequest = ({ http }) => !!http?.method && !!http.url;

/** Headers that curl makes itself. */
const OWN = ['content-length', 'host', 'connection', 'transfer-encoding'];

/** As a command that sends it. @param {Detail} detail */
export function asCurl({ http, text = '' }) {
  const lines = [`curl --no-buffer -X ${quoted(http?.method ?? 'POST')} ${quoted(http?.url ?? '')}`];
  for (const [name, value] of Object.entries(http?.headers ?? {})) {
    if (OWN.includes(name.toLowerCase())) continue;
    for (const one of [value].flat()) lines.push(`-H ${quoted(`${name}: ${one}`)}`);
  }
  if (text) lines.push(`--data-binary ${quoted(text)}`);
  return lines.join(' \\\n  ');
}
