// Finds the frames that contain the words of a filter; only the program has the texts.

import * as api from './api.js';

/** @import { Filter } from './filter.js' */
/** @import { Frames } from './frames.js' */

/** How often to search new frames. */
const PAUSE = 500;

export class Search {
  /** @type {AbortController | null} */
  #life = null;

  stop() { this.#life?.abort(); }

  /**
   * Keeps the results of a filter up to date, until another search starts.
   * @param {Filter} filter
   * @param {Frames} frames
   * @param {() => void} apply called when something was found
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
        // Later frames may contain the words too.
        do await new Promise(wake => setTimeout(wake, PAUSE)); while (!signal.aborted && frames.total === total);
      }
    } catch (error) {
      if (!signal.aborted) fail(error instanceof Error ? error.message : String(error));
    }
  }
}
