// What the page asks the program for. Addresses are relative to the page, which is under the token.

/** @import { About, Detail, News, Problem, Rule, SchemaView, SessionView, SpeakNews } from '../api' */

/** Something the program has refused. */
export class ApiError extends Error {
  /** What to do. @type {string | undefined} */
  help;

  /** @param {string} said what came instead of an answer */
  constructor(said) {
    let [message, help] = [said, undefined];
    try {
      const refusal = JSON.parse(said);
      if (typeof refusal.error === 'string') ({ error: message, help } = refusal);
    } catch {
      // Plain words.
    }
    super(message);
    this.help = help;
  }
}

/**
 * @param {string} path
 * @param {RequestInit} [init]
 * @param {string} [base] the page whose program is asked
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
 * The line of the recording, as it is.
 * @param {number} number
 */
export const line = async number => (await ask(`frames/${number}/line`)).text();

/**
 * The schemas that a frame is judged by.
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
 * Rows as they come and change, until `signal` is aborted or the program ends.
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
