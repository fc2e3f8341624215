// `method:tools/call -sev:warning slow:>500ms "free text"`

/** @import { Row } from '../api' */

/** The text is not a valid filter. */
export class FilterError extends Error {}

/** @typedef {(row: Row) => boolean} Test */

const SLOW = /^>?(\d+(?:\.\d+)?)(ms|s)?$/;

/** @type {string[]} */
const KINDS = /** @type {Row['kind'][]} */ (['request', 'notification', 'result', 'error', 'malformed', 'batch', 'text', 'http-request', 'http-response', 'event', 'end', 'stderr',
  'exit', 'too-long', 'gap']);

/** @param {string} value @param {string | undefined} text */
const contains = (value, text) => text !== undefined && text.toLowerCase().includes(value.toLowerCase());

/** @type {Record<string, (value: string) => Test>} */
const TERMS = {
  method: value => row => contains(value, row.method),
  tool: value => row => contains(value, row.target),
  id: value => row => row.id === value || row.id === JSON.stringify(value),
  dir: value => {
    const side = { client: 'client', server: 'server', out: 'client', in: 'server' }[value];
    if (!side) throw new FilterError(`dir: is client or server, not "${value}"`);
    return row => row.from === side;
  },
  kind: value => {
    if (!KINDS.includes(value)) throw new FilterError(`kind: is one of ${KINDS.join(', ')}, not "${value}"`);
    return row => row.kind === value;
  },
  status: value => row => String(row.status ?? '').startsWith(value) || (value === 'error' && row.kind === 'error'),
  rule: value => row => (row.rules ?? []).some(rule => rule.includes(value)),
  sev: value => {
    if (!['error', 'warning', 'any', 'none'].includes(value)) {
      throw new FilterError(`sev: is error, warning, any or none, not "${value}"`);
    }
    return row => value === 'any' ? !!row.worst : value === 'none' ? !row.worst : row.worst === value;
  },
  slow: value => {
    const [, figure, unit] = SLOW.exec(value) ?? [];
    if (!figure) throw new FilterError(`slow: takes a time such as >500ms, not "${value}"`);
    const limit = Number(figure) * (unit === 's' ? 1000 : 1);
    return row => (row.took ?? -1) > limit;
  },
  session: value => row => contains(value, row.session),
};

export const TERM_NAMES = Object.keys(TERMS);

/** Filter terms with descriptions, for the help. @type {[string, string][]} */
export const TERMS_IN_WORDS = [
  ['text', 'contained in the text of the frame; use "quotes" for spaces'], ['-term', 'exclude what matches the term'], ['method:tools/call', 'the method contains this'],
  ['tool:greet', 'the tool, prompt or resource'], ['id:7', 'this id'], ['dir:server', 'sent by client or server'],
  ['kind:error', 'request, result, error, notification, malformed, text, stderr, exit, …'], ['status:404', 'HTTP status'],
  ['rule:result-', 'a finding of this rule'], ['sev:error', 'error, warning, any or none'], ['slow:>500ms', 'answers that took longer'],
  ['session:2', 'the conversation'],
];

export class Filter {
  /** @type {Test[]} */
  #tests = [];
  /** Words that the text must contain; only the program has the texts. @type {string[]} */
  words = [];
  /** Words that the text must not contain. @type {string[]} */
  unwanted = [];
  /** The frames that contain the words; `null` while unknown. @type {Set<number> | null} */
  found = null;
  /** The frames that contain unwanted words. @type {Set<number>} */
  excluded = new Set();

  /** Milliseconds since 1970. @type {[number, number] | null} */
  range = null;

  /** @param {string} text */
  static parse(text) {
    const filter = new Filter();
    for (const [, minus, name, , quoted, plain] of text.matchAll(/(-?)(?:(\w+):)?(?:("([^"]*)")|(\S+))/g)) {
      filter.#add(minus === '-', name, quoted ?? plain);
    }
    return filter;
  }

  /** @param {boolean} isNegated @param {string | undefined} name @param {string} value */
  #add(isNegated, name, value) {
    if (!name) {
      (isNegated ? this.unwanted : this.words).push(value);
      return;
    }
    const term = TERMS[name];
    if (!term) throw new FilterError(`unknown term "${name}:"; use one of ${TERM_NAMES.map(it => `${it}:`).join(' ')}`);
    const test = term(value);
    this.#tests.push(isNegated ? row => !test(row) : test);
  }

  /** Whether texts have to be searched. */
  get needsSearch() { return this.words.length + this.unwanted.length > 0; }

  get isEmpty() { return !this.#tests.length && !this.needsSearch && !this.range; }

  /** @param {Row} row */
  matches(row) {
    return (!this.range || row.at !== undefined && row.at >= this.range[0] && row.at <= this.range[1])
      && this.#tests.every(test => test(row))
      && (!this.words.length || !!this.found?.has(row.number))
      && !this.excluded.has(row.number);
  }
}
