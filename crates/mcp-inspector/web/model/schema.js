// Reads from a JSON Schema what a form needs. It decides which field to show, never what is valid: that is up to the
// engine.

import { keyText } from './json.js';

/** @import { JsonNode } from './json.js' */
/** @typedef {Record<string, any>} Schema */
/** @typedef {'const' | 'enum' | 'choice' | 'object' | 'array' | 'string' | 'number' | 'integer' | 'boolean' | 'null' | 'json'} FieldKind */

const MOST_HOPS = 16;
const TYPES = ['object', 'array', 'string', 'number', 'integer', 'boolean', 'null'];

/** @param {unknown} value @returns {value is Schema} */
export const isObject = value => typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * Resolves references within the document and merges `allOf`. A reference to another document, or a circular one, becomes
 * a schema that allows everything.
 * @param {unknown} schema
 * @param {Schema} root
 * @returns {Schema}
 */
export function resolve(schema, root, hops = 0) {
  if (!isObject(schema) || hops > MOST_HOPS) return {};
  let resolved = schema;
  if (typeof schema.$ref === 'string') {
    const { $ref, ...beside } = schema;
    resolved = { ...resolve(target($ref, root), root, hops + 1), ...beside };
  }
  if (!Array.isArray(resolved.allOf)) return resolved;
  const { allOf, ...joined } = resolved;
  return allOf.slice(0, 50).reduce((sum, part) => join(sum, resolve(part, root, hops + 1)), joined);
}

/** Merges two schemas into one that requires what both require. @param {Schema} one @param {Schema} other @returns {Schema} */
export function join(one, other) {
  const joined = { ...one, ...other };
  if (one.properties && other.properties) joined.properties = { ...one.properties, ...other.properties };
  if (Array.isArray(one.required) && Array.isArray(other.required)) joined.required = [...new Set([...one.required, ...other.required])];
  return joined;
}

/** @param {string} reference @param {Schema} root */
function target(reference, root) {
  if (!reference.startsWith('#')) return null;
  /** @type {unknown} */
  let found = root;
  try {
    for (const step of decodeURIComponent(reference.slice(1)).split('/').slice(1)) {
      const name = step.replaceAll('~1', '/').replaceAll('~0', '~');
      if (!found || typeof found !== 'object' || !Object.hasOwn(found, name)) return null;
      found = /** @type {Schema} */ (found)[name];
    }
  } catch {
    return null; // Invalid escape.
  }
  return found;
}

/** @param {Schema} schema a resolved one @returns {FieldKind} */
export function kindOf(schema) {
  if (Object.hasOwn(schema, 'const')) return 'const';
  if (Array.isArray(schema.enum) && schema.enum.length) return 'enum';
  if (branchesOf(schema).length > 1) return 'choice';
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type;
  if (TYPES.includes(type)) return type;
  if (isObject(schema.properties)) return 'object';
  return 'json';
}

/**
 * The alternatives of a schema, each merged with the keywords beside them.
 * @param {Schema} schema
 * @returns {Schema[]}
 */
export function branchesOf(schema) {
  for (const keyword of ['oneOf', 'anyOf']) {
    const branches = schema[keyword];
    if (!Array.isArray(branches) || !branches.length) continue;
    const { [keyword]: _, ...beside } = schema;
    return branches.slice(0, 100).map(branch => isObject(branch) ? branch : {}).map(branch =>
      typeof branch.$ref === 'string' ? { ...beside, allOf: [branch] } : join(beside, branch));
  }
  if (!Array.isArray(schema.type)) return [];
  return schema.type.filter(type => TYPES.includes(type)).map(type => ({ ...schema, type }));
}

/** The name of a schema in a list of choices. @param {Schema} schema @param {number} index */
export function titleOf(schema, index) {
  if (typeof schema.title === 'string') return schema.title;
  if (Object.hasOwn(schema, 'const')) return JSON.stringify(schema.const);
  const named = Object.entries(schema.properties ?? {}).find(([, of]) => isObject(of) && Object.hasOwn(of, 'const'));
  if (named) return `${named[0]}: ${JSON.stringify(named[1].const)}`;
  if (Array.isArray(schema.required) && schema.required.length) return `with ${schema.required.join(', ')}`;
  return typeof schema.type === 'string' ? schema.type : `choice ${index + 1}`;
}

/** A short description of what is expected. @param {Schema} schema */
export function expectation(schema) {
  const words = [[schema.type].flat().filter(type => typeof type === 'string').join(' or ')];
  if (typeof schema.format === 'string') words.push(schema.format);
  const [low, high] = [schema.minimum ?? schema.minLength ?? schema.minItems, schema.maximum ?? schema.maxLength ?? schema.maxItems];
  const unit = schema.type === 'string' ? ' characters' : schema.type === 'array' ? ' entries' : '';
  if (low !== undefined && high !== undefined) words.push(`${low} to ${high}${unit}`);
  else if (low !== undefined) words.push(`at least ${low}${unit}`);
  else if (high !== undefined) words.push(`at most ${high}${unit}`);
  if (typeof schema.pattern === 'string') words.push(`matching ${schema.pattern}`);
  return words.filter(Boolean).join(', ');
}

/**
 * Whether a value looks as if it was meant for this schema: enough to choose an alternative.
 * @param {Schema} schema
 * @param {JsonNode} node
 * @param {string} source
 * @param {Schema} root
 * @returns {boolean}
 */
export function seemsMeant(schema, node, source, root) {
  const resolved = resolve(schema, root);
  const text = source.slice(node.start, node.end);
  if (Object.hasOwn(resolved, 'const')) return sameText(text, resolved.const);
  if (Array.isArray(resolved.enum)) return resolved.enum.some(value => sameText(text, value));
  const types = [resolved.type ?? (resolved.properties ? 'object' : [])].flat();
  const type = node.kind === 'literal' ? (text === 'null' ? 'null' : 'boolean') : node.kind;
  if (types.length && !types.some(it => it === type || it === 'integer' && type === 'number' && /^-?\d+$/.test(text))) return false;
  if (node.kind !== 'object') return true;
  const members = new Map(node.members?.map(member => [keyText(member.key), member.value]));
  if ((resolved.required ?? []).some((/** @type {string} */ name) => !members.has(name))) return false;
  return Object.entries(resolved.properties ?? {}).every(([name, of]) => {
    const held = members.get(name);
    const inner = resolve(of, root);
    return !held || !(Object.hasOwn(inner, 'const')) || sameText(source.slice(held.start, held.end), inner.const);
  });
}

/** @param {string} text @param {unknown} value */
export function sameText(text, value) {
  try {
    return JSON.stringify(JSON.parse(text)) === JSON.stringify(value);
  } catch {
    return false;
  }
}
