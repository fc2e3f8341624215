// Finds the frames that the words of a filter are in: only the program knows the texts.

import * as api from './api.js';

/** @import { Filter } from './filter.js' */
/** @import { Frames } from './frames.js' */

/** How often to look for words in frames that have come. */
const PAUSE = 500;

export class Search {
  /** @type {AbortController | null} */
  #life = null;

  stop() { this.#life?.abort(); }

  /**
   * Keeps what a filter has found up to date, until another is started.
   * @param {Filter} filter
   * @param {Frames} frames
   * @param {() => void} apply when something was found
   * @param {(words: string) => void} fail
   */
  async start(filter, frames, apply, fail) {
    this.stop();
    if (!filter.needsSearch) return;
    const life = new AbortController();
    this.#life = life;
    const { signal } = life;
    try {
      while (!signal.aborted) {
        const { total } = frames;
        const [found, excluded] = await Promise.all([
          filter.words.length ? api.search(filter.words, 'all', signal) : [],
          filter.unwanted.length ? api.search(filter.unwanted, 'any', signal) : [],
        ]);
        filter.found = new Set(found);
        filter.excluded = new Set(excluded);
        apply();
        // Later frames may contain it too.
        do await new Promise(wake => setTimeout(wake, PAUSE)); while (!signal.aborted && frames.total === total);
      }
    } catch (error) {
      if (!signal.aborted) fail(error instanceof Error ? error.message : String(error));
    }
  }
}
