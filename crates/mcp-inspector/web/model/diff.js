// The differences between two JSON texts, by path.

import * as json from './json.js';

/** @import { JsonNode } from './json.js' */
/** @typedef {{ path: string, before?: string, after?: string }} Difference */

const MOST = 200;

/**
 * The differences, up to a limit; `null` if one of the texts is not JSON.
 * @param {string} before
 * @param {string} after
 * @returns {Difference[] | null}
 */
export function differences(before, after) {
  const [one, other] = [json.read(before), json.read(after)];
  if (!one || !other) return null;
  /** @type {Difference[]} */
  const found = [];
  compare({ node: one, text: before }, { node: other, text: after }, '', found);
  return found;
}

/** @typedef {{ node: JsonNode, text: string }} Side */

/** @param {Side | undefined} before @param {Side | undefined} after @param {string} path @param {Difference[]} found */
function compare(before, after, path, found) {
  if (found.length >= MOST) return;
  const [was, is] = [childrenOf(before), childrenOf(after)];
  if (before && after && was && is && before.node.kind === after.node.kind) {
    for (const name of new Set([...was.keys(), ...is.keys()])) compare(was.get(name), is.get(name), `${path}/${name}`, found);
    return;
  }
  const [textBefore, textAfter] = [textOf(before), textOf(after)];
  if (textBefore !== textAfter) found.push({ path, before: textBefore, after: textAfter });
}

/** @param {Side | undefined} side */
const textOf = side => side?.text.slice(side.node.start, side.node.end);

/** @param {Side | undefined} side @returns {Map<string, Side> | null} */
function childrenOf(side) {
  if (!side) return null;
  const { node, text } = side;
  if (node.members) {
    return new Map(node.members.map(({ key, value }) =>
      [json.keyText(key).replaceAll('~', '~0').replaceAll('/', '~1'), { node: value, text }]));
  }
  return node.elements ? new Map(node.elements.map((value, index) => [String(index), { node: value, text }])) : null;
}
