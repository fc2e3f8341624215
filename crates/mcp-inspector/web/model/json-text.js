// Formats JSON text without converting values, so that numbers and names keep their spelling.

import * as json from './json.js';

/** @import { JsonNode } from './json.js' */

/** With line breaks, if it is JSON. @param {string} text */
export function pretty(text) {
  const root = json.read(text);
  return root ? laidOut(root, text, '') : text;
}

/** @param {JsonNode} node @param {string} text @param {string} indent @returns {string} */
function laidOut(node, text, indent) {
  const inner = `${indent}  `;
  const members = node.members?.map(({ key, value }) => `${inner}${key}: ${laidOut(value, text, inner)}`);
  const elements = node.elements?.map(element => inner + laidOut(element, text, inner));
  const list = members ?? elements;
  if (!list) return text.slice(node.start, node.end);
  const [open, close] = members ? '{}' : '[]';
  return list.length ? `${open}\n${list.join(',\n')}\n${indent}${close}` : open + close;
}

/** On one line, if it is JSON. @param {string} text */
export function compact(text) {
  const root = json.read(text);
  return root ? pressed(root, text) : text;
}

/** @param {JsonNode} node @param {string} text @returns {string} */
function pressed(node, text) {
  if (node.members) return `{${node.members.map(({ key, value }) => `${key}:${pressed(value, text)}`).join(',')}}`;
  if (node.elements) return `[${node.elements.map(element => pressed(element, text)).join(',')}]`;
  return text.slice(node.start, node.end);
}

/**
 * The text of an object with one member set or, for `undefined`, removed. The rest of the text is unchanged.
 * @param {string} text
 * @param {string} name
 * @param {string | undefined} value
 */
export function withMember(text, name, value) {
  const root = json.read(text);
  if (root?.kind !== 'object') return text;
  const kept = (root.members ?? []).filter(member => json.keyText(member.key) !== name || value !== undefined);
  const parts = kept.map(member => {
    const isIt = json.keyText(member.key) === name;
    return `${member.key}:${isIt ? value : text.slice(member.value.start, member.value.end)}`;
  });
  if (value !== undefined && !kept.some(member => json.keyText(member.key) === name)) parts.push(`${JSON.stringify(name)}:${value}`);
  return `{${parts.join(',')}}`;
}

/** The text of a member of an object. @param {string} text @param {string} name */
export function memberOf(text, name) {
  const root = json.read(text);
  const found = root?.kind === 'object' ? root.members?.findLast(member => json.keyText(member.key) === name) : undefined;
  return found && text.slice(found.value.start, found.value.end);
}
