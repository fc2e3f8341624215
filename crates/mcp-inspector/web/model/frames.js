// The rows received from the program, and which of them are shown.

import * as api from './api.js';

/** @import { Row, SpeakState } from '../api' */
/** @import { Filter } from './filter.js' */

/** Rows were added, changed, shown or hidden. */
export class FramesChangeEvent extends Event {
  constructor() { super('plumb-frames-change'); }
}

/** The connection to the program was lost, restored or paused. */
export class ConnectionEvent extends Event {
  /** @param {'live' | 'lost' | 'paused'} state */
  constructor(state) {
    super('plumb-connection');
    this.state = state;
  }
}

/** The state of the page's own conversation has changed. */
export class SpeakNewsEvent extends Event {
  /** @param {SpeakState} state */
  constructor(state) {
    super('plumb-speak-news');
    this.state = state;
  }
}

/** Maximum number of rows; the program drops old ones too. */
const MOST = 200_000;

export class Frames extends EventTarget {
  /** @type {Map<number, Row>} */
  #rows = new Map();
  /** @type {number[]} */
  #numbers = [];
  /** @type {number[]} */
  #shown = [];
  /** @type {Filter | null} */
  #filter = null;
  /** @type {Filter | null} */
  #highlight = null;
  #cursor = 0;
  #announced = false;
  #paused = false;
  #calls = false;
  /** Rows that arrive while paused are shown afterwards. */
  #pausedAt = Infinity;

  /** Reads until `signal` is aborted, and reconnects if the connection is lost.
   * @param {AbortSignal} signal */
  async follow(signal) {
    while (!signal.aborted) {
      try {
        for await (const news of api.changes(this.#cursor, signal)) {
          if (news.speak) {
            this.dispatchEvent(new SpeakNewsEvent(news.speak));
            continue;
          }
          if (news.is_behind) this.#clear();
          this.#cursor = news.cursor;
          this.#take(news.rows);
          this.#connected(true);
        }
      } catch (error) {
        if (signal.aborted) return;
        if (error instanceof api.ApiError) console.warn(error.message);
      }
      this.#connected(false);
      await new Promise(wake => setTimeout(wake, 1000));
    }
  }

  get total() { return this.#numbers.length; }
  get shown() { return this.#shown; }
  get all() { return this.#numbers; }
  get paused() { return this.#paused; }

  /** @param {number} number */
  row(number) { return this.#rows.get(number); }

  /** @param {Filter | null} filter */
  set filter(filter) {
    this.#filter = filter;
    this.#select();
  }

  /** Sets the rows to highlight; `null` for none. @param {Filter | null} filter */
  set highlight(filter) {
    this.#highlight = filter;
    this.#announce();
  }

  /** @param {Row} row */
  isHighlighted(row) { return !!this.#highlight?.matches(row); }

  /** The time range that is shown; `null` for all. */
  get range() { return this.#filter?.range ?? null; }

  set paused(paused) {
    this.#paused = paused;
    this.#pausedAt = paused ? (this.#numbers.at(-1) ?? 0) : Infinity;
    this.dispatchEvent(new ConnectionEvent(paused ? 'paused' : 'live'));
    this.#select();
  }

  /** Whether a request and its answer share a row. */
  get calls() { return this.#calls; }
  set calls(calls) {
    this.#calls = calls;
    this.#select();
  }

  /** The next shown row with a finding after `number`, or before it.
   * @param {number} number
   * @param {1 | -1} step */
  finding(number, step) {
    const shown = step === 1 ? this.#shown : this.#shown.toReversed();
    const isBeyond = (/** @type {number} */ other) => step === 1 ? other > number : other < number;
    return shown.find(other => isBeyond(other) && this.#rows.get(other)?.findings);
  }

  #clear() {
    this.#rows.clear();
    this.#numbers = [];
    this.#shown = [];
  }

  /** @param {Row[]} rows */
  #take(rows) {
    let reselect = false;
    for (const row of rows) {
      const isNew = !this.#rows.has(row.number);
      this.#rows.set(row.number, row);
      if (isNew) {
        this.#numbers.push(row.number);
        if (this.#isShown(row)) this.#shown.push(row.number);
      } else if (this.#filter) {
        reselect = true;
      }
    }
    while (this.#numbers.length > MOST) {
      const dropped = /** @type {number} */ (this.#numbers.shift());
      this.#rows.delete(dropped);
      if (this.#shown[0] === dropped) this.#shown.shift();
    }
    if (reselect) this.#select(); else this.#announce();
  }

  #select() {
    this.#shown = this.#numbers.filter(number => this.#isShown(/** @type {Row} */ (this.#rows.get(number))));
    this.#announce();
  }

  /** @param {Row} row */
  #isShown(row) {
    return !(this.#calls && this.#isPartOfCall(row)) && row.number <= this.#pausedAt && (!this.#filter || this.#filter.matches(row));
  }

  /** Whether it shares the row of its request, being the first answer to it. @param {Row} row */
  #isPartOfCall(row) {
    return (row.kind === 'result' || row.kind === 'error') && row.pair !== undefined && this.#rows.get(row.pair)?.pair === row.number;
  }

  /** Notifies at most once per animation frame. */
  #announce() {
    if (this.#announced) return;
    this.#announced = true;
    requestAnimationFrame(() => {
      this.#announced = false;
      this.dispatchEvent(new FramesChangeEvent());
    });
  }

  #isConnected = false;
  /** @param {boolean} connected */
  #connected(connected) {
    if (connected === this.#isConnected) return;
    this.#isConnected = connected;
    this.dispatchEvent(new ConnectionEvent(connected ? 'live' : 'lost'));
  }
}
