// Requests of the page to the program. Addresses are relative to the page, whose path begins with the token.

/** @import { About, Detail, News, Problem, Rule, SchemaView, SessionView, SpeakNews } from '../api' */

/** A request that the program refused. */
export class ApiError extends Error {
  /** What to do. @type {string | undefined} */
  help;

  /** @param {string} said the text of the response */
  constructor(said) {
    let [message, help] = [said, undefined];
    try {
      const refusal = JSON.parse(said);
      if (typeof refusal.error === 'string') ({ error: message, help } = refusal);
    } catch {
      // Plain text.
    }
    super(message);
    this.help = help;
  }
}

/**
 * @param {string} path
 * @param {RequestInit} [init]
 * @param {string} [base] the address of another page to ask
 */
export async function ask(path, init, base = '') {
  const response = await fetch(`${base}api/${path}`, init);
  if (!response.ok) throw new ApiError((await response.text()) || response.statusText);
  return response;
}

/** @returns {Promise<About>} */
export const about = async () => (await ask('about')).json();

/**
 * @param {number} number
 * @param {AbortSignal} [signal]
 * @returns {Promise<Detail>}
 */
export const frame = async (number, signal) => (await ask(`frames/${number}`, { signal })).json();

/**
 * The line of the recording, unchanged.
 * @param {number} number
 */
export const line = async number => (await ask(`frames/${number}/line`)).text();

/**
 * The schemas that a frame is checked against.
 * @param {number} number
 * @returns {Promise<SchemaView[]>}
 */
export const schemas = async number => (await ask(`frames/${number}/schemas`)).json();

/** @returns {Promise<Problem[]>} */
export const problems = async () => (await ask('problems')).json();

/** @returns {Promise<SessionView>} */
export const session = async () => (await ask('session')).json();

/**
 * @param {string} name
 * @returns {Promise<Rule>}
 */
export const rule = async name => (await ask(`rules/${encodeURIComponent(name)}`)).json();

/**
 * The frames whose text contains the words.
 * @param {string[]} words
 * @param {'all' | 'any'} how
 * @param {AbortSignal} signal
 * @returns {Promise<number[]>}
 */
export async function search(words, how, signal) {
  const query = new URLSearchParams({ how, words: JSON.stringify(words) });
  return (await ask(`search?${query}`, { signal })).json();
}

/**
 * New and changed rows, until `signal` is aborted or the program ends.
 * @param {number} cursor
 * @param {AbortSignal} signal
 * @returns {AsyncGenerator<News | SpeakNews>}
 */
export async function* changes(cursor, signal) {
  const response = await ask(`stream?cursor=${cursor}`, { signal });
  if (!response.body) return;
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const lines = (rest + value).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) if (line) yield JSON.parse(line);
  }
}
