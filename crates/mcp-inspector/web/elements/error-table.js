// The `data` of a JSON-RPC error, or the faults in a tool's result, as a table: place, message, keyword, expected
// value, and the value that the request had there.

import { make } from '../model/dom.js';
import * as json from '../model/json.js';
import { FrameSelectEvent } from './events.js';

/**
 * @typedef {object} Fault one entry, in whichever format
 * @property {string} path JSON pointer into the arguments or params
 * @property {string} message
 * @property {string} keyword
 * @property {string} expected
 */

const LISTS = ['errors', 'issues', 'findings', 'violations', 'details'];

/**
 * The faults listed in an error's `data` or a result, in the formats of ajv, zod and plumb; `null` for other formats.
 * @param {unknown} data
 * @returns {Fault[] | null}
 */
export function faultsOf(data) {
  let list = data;
  if (data && typeof data === 'object' && !Array.isArray(data)) {
    const holder = /** @type {Record<string, unknown>} */ (data);
    const name = LISTS.find(name => Array.isArray(holder[name]));
    list = name ? holder[name] : [data];
  }
  if (!Array.isArray(list) || !list.length) return null;
  const faults = list.map(faultOf);
  return faults.every(fault => fault !== null) ? faults : null;
}

/** @param {unknown} entry @returns {Fault | null} */
function faultOf(entry) {
  if (!entry || typeof entry !== 'object') return null;
  const { instancePath, pointer, path, message, keyword, code, params, expected, received } =
    /** @type {Record<string, unknown>} */ (entry);
  if (typeof message !== 'string') return null;
  const steps = Array.isArray(path) ? path.map(step => `/${String(step).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('') : undefined;
  const place = instancePath ?? pointer ?? steps ?? path;
  if (typeof place !== 'string') return null;
  const wanted = expected ?? (params && typeof params === 'object' ? JSON.stringify(params) : undefined);
  return {
    path: place,
    message,
    keyword: String(keyword ?? code ?? ''),
    expected: wanted === undefined ? (received === undefined ? '' : `not ${String(received)}`) : String(wanted),
  };
}

/**
 * @param {Fault[]} faults
 * @param {{ text: string, number: number } | null} request the message they are about
 */
export function errorTable(faults, request) {
  const root = request && json.read(request.text);
  const body = make('tbody');
  for (const fault of faults) {
    const found = request && placeOf(root, fault.path);
    const actual = found && valueText(request.text, found.node);
    const place = fault.path || '(the whole value)';
    body.append(make('tr', { 'data-path': fault.path },
      make('td', { class: 'mono', 'data-label': 'where' }, found
        ? make('button', { class: 'link', click: event => event.currentTarget.dispatchEvent(new FrameSelectEvent(request.number, { pointer: found.pointer })) }, place)
        : place),
      make('td', { 'data-label': 'message' }, fault.message),
      make('td', { 'data-label': 'keyword' }, fault.keyword),
      make('td', { class: 'mono', 'data-label': 'expected' }, fault.expected),
      make('td', { class: 'mono', 'data-label': 'sent' }, actual ?? make('span', { class: 'quiet' }, 'nothing'))));
  }
  const head = make('tr');
  for (const title of ['where', 'message', 'keyword', 'expected', 'sent']) head.append(make('th', { scope: 'col' }, title));
  return make('table', { class: 'data error-table' }, make('thead', {}, head), body);
}

/** Pointers of servers may start at the arguments, the params or the whole message.
 * @param {json.JsonNode | null | undefined} root @param {string} path */
function placeOf(root, path) {
  if (!root) return null;
  for (const prefix of ['/params/arguments', '/params', '']) {
    const base = json.at(root, prefix);
    const node = base && json.at(base, path);
    if (node) return { pointer: prefix + path, node };
  }
  return null;
}

/** @param {string} text @param {json.JsonNode} node */
function valueText(text, node) {
  const value = text.slice(node.start, node.end);
  return value.length > 300 ? `${value.slice(0, 300)}…` : value;
}

/** The faults listed in an error's `data`, or in a tool's result with `isError`. @param {string} text of the message */
export function listedFaults(text) {
  try {
    const message = JSON.parse(text);
    if (message?.error?.data !== undefined) return faultsOf(message.error.data);
    if (message?.result?.isError !== true) return null;
    const meta = Object.values(message.result._meta ?? {}).map(faultsOf).find(Boolean);
    return meta ?? faultsOf(message.result.structuredContent);
  } catch {
    return null;
  }
}
