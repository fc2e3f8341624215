// The page's own conversation: its state, and what the server offers.

import { frame } from './api.js';
import * as speak from './speak-api.js';

/** @import { Call, Offer, Offered, SpeakState } from '../api' */

/** The state of the conversation has changed. */
export class SpeakChangeEvent extends Event {
  constructor() { super('plumb-speak-change'); }
}

/** The lists of the server have changed. */
export class OfferChangeEvent extends Event {
  constructor() { super('plumb-offer-change'); }
}

const NOTHING = { tools: [], resources: [], templates: [], prompts: [], problems: [] };

export class Speak extends EventTarget {
  /** @type {SpeakState} */
  state = { status: 'idle', servers: [], server: '', revisions: [], calls: [], questions: [], offered: 0 };
  /** @type {Offer} */
  offer = NOTHING;
  /** The conversation that the lists belong to. */
  #offered = '';
  /** The findings about the lists. */
  #judged = '';

  async load() { this.take(await speak.state()); }

  /** @param {SpeakState} state */
  take(state) {
    this.state = state;
    this.dispatchEvent(new SpeakChangeEvent());
    const offered = state.status === 'idle' ? '' : `${state.session} ${state.status} ${state.offered}`;
    if (offered !== this.#offered) {
      this.#offered = offered;
      this.loadOffer();
    }
  }

  async loadOffer() {
    try {
      this.offer = this.state.status === 'idle' ? NOTHING : await speak.offer();
    } catch {
      this.offer = NOTHING; // The conversation has ended, as the state shows.
    }
    this.dispatchEvent(new OfferChangeEvent());
  }

  /**
   * Takes findings about the lists that arrive after the lists themselves.
   * @param {(frame: number) => number | undefined} findings of a frame
   */
  judged(findings) {
    const { tools, resources, templates, prompts } = this.offer;
    const frames = new Set([...tools, ...resources, ...templates, ...prompts].flatMap(({ frame }) => frame ?? []));
    const judged = JSON.stringify([...frames].map(frame => [frame, findings(frame)]));
    if (judged === this.#judged) return;
    this.#judged = judged;
    if (frames.size) this.loadOffer();
  }

  /** @param {string | undefined} name @returns {Offered | undefined} */
  tool(name) { return this.offer.tools.find(tool => tool.name === name); }

  /** @param {string} id @returns {Call | undefined} */
  call(id) { return this.state.calls.findLast(call => call.id === id); }

  /**
   * Sends a request and waits for the answer; `null` if there is none.
   * @param {string} method
   * @param {string} params
   * @param {AbortSignal} signal
   * @returns {Promise<any>}
   */
  async ask(method, params, signal) {
    const { id } = await speak.request(method, params);
    if (id === undefined) return null;
    const call = await this.#ended(id, signal);
    if (!call?.answer) return null;
    const { text } = await frame(call.answer, signal);
    return text === undefined ? null : JSON.parse(text);
  }

  /** @param {string} id @param {AbortSignal} signal @returns {Promise<Call | undefined>} */
  #ended(id, signal) {
    return new Promise(done => {
      const look = () => {
        const call = this.call(id);
        if (!signal.aborted && (!call || call.state === 'pending')) return;
        this.removeEventListener('plumb-speak-change', look);
        done(signal.aborted ? undefined : call);
      };
      this.addEventListener('plumb-speak-change', look, { signal });
      signal.addEventListener('abort', look, { once: true });
      look();
    });
  }
}
