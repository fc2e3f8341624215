// A lossless JSON parser: every value has its position in the text and keeps its spelling, so that numbers beyond a
// double and duplicate members are shown as they were sent.

/**
 * @typedef {object} JsonNode
 * @property {'object' | 'array' | 'string' | 'number' | 'literal'} kind
 * @property {number} start place in the text
 * @property {number} end
 * @property {{ key: string, keyStart: number, value: JsonNode }[]} [members]
 * @property {JsonNode[]} [elements]
 */

const SPACE = /[ \t\n\r]*/y;
const STRING = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const LITERAL = /true|false|null/y;
const DEEPEST = 200;

/**
 * The value of a text, or `null` if that is not JSON.
 * @param {string} text
 * @returns {JsonNode | null}
 */
export function read(text) {
  let at = 0;
  /** @param {RegExp} pattern */
  const take = pattern => {
    pattern.lastIndex = at;
    const found = pattern.exec(text);
    if (found) at = pattern.lastIndex;
    return found?.[0];
  };
  /** @param {string} sign */
  const sign = sign => {
    take(SPACE);
    if (text[at] !== sign) return false;
    at += 1;
    return true;
  };
  /** @param {number} depth @returns {JsonNode | null} */
  const value = depth => {
    take(SPACE);
    const start = at;
    if (depth > DEEPEST) return null;
    if (sign('{')) return object(start, depth);
    if (sign('[')) return array(start, depth);
    if (take(STRING) !== undefined) return { kind: 'string', start, end: at };
    if (take(NUMBER)) return { kind: 'number', start, end: at };
    if (take(LITERAL)) return { kind: 'literal', start, end: at };
    return null;
  };
  /** @param {number} start @param {number} depth @returns {JsonNode | null} */
  const object = (start, depth) => {
    /** @type {NonNullable<JsonNode['members']>} */
    const members = [];
    if (sign('}')) return { kind: 'object', start, end: at, members };
    do {
      take(SPACE);
      const keyStart = at;
      const key = take(STRING);
      if (key === undefined || !sign(':')) return null;
      const held = value(depth + 1);
      if (!held) return null;
      members.push({ key, keyStart, value: held });
    } while (sign(','));
    return sign('}') ? { kind: 'object', start, end: at, members } : null;
  };
  /** @param {number} start @param {number} depth @returns {JsonNode | null} */
  const array = (start, depth) => {
    /** @type {JsonNode[]} */
    const elements = [];
    if (sign(']')) return { kind: 'array', start, end: at, elements };
    do {
      const element = value(depth + 1);
      if (!element) return null;
      elements.push(element);
    } while (sign(','));
    return sign(']') ? { kind: 'array', start, end: at, elements } : null;
  };
  const root = value(0);
  take(SPACE);
  return at === text.length ? root : null;
}

/** The text of a member's name. @param {string} key */
export const keyText = key => /** @type {string} */ (JSON.parse(key));

/**
 * The value at a JSON pointer.
 * @param {JsonNode | null} root
 * @param {string} pointer
 */
export function at(root, pointer) {
  let node = root;
  if (pointer === '' || !node) return node;
  for (const step of pointer.slice(1).split('/')) {
    const name = step.replaceAll('~1', '/').replaceAll('~0', '~');
    if (node?.kind === 'object') node = node.members?.findLast(member => keyText(member.key) === name)?.value ?? null;
    else if (node?.kind === 'array') node = node.elements?.[Number(name)] ?? null;
    else return null;
    if (!node) return null;
  }
  return node;
}

/**
 * Turns places in the UTF-8 of a text into places in the text.
 * @param {string} text
 */
export function byteToIndex(text) {
  if (/^[\x00-\x7f]*$/.test(text)) return (/** @type {number} */ byte) => Math.min(byte, text.length);
  /** @type {number[]} */
  const starts = [];
  let index = 0;
  for (const character of text) {
    const code = /** @type {number} */ (character.codePointAt(0));
    const length = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (let part = 0; part < length; part++) starts.push(index);
    index += character.length;
  }
  return (/** @type {number} */ byte) => starts[byte] ?? text.length;
}
