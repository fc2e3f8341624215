// Requests sent from this page, the newest first. Open ones show the elapsed time and can be cancelled.

import { make } from '../../model/dom.js';
import { duration, verdict } from '../../model/format.js';
import * as speak from '../../model/speak-api.js';
import { CallSelectEvent } from './events.js';

/** @import { Call } from '../../api' */
/** @import { Frames } from '../../model/frames.js' */
/** @import { Speak } from '../../model/speak.js' */

const TICK = 100;

export class CallListElement extends HTMLElement {
  /** @type {Speak | null} */
  #speak = null;
  /** @type {Frames | null} */
  #frames = null;
  #selected = '';
  /** @type {AbortController | null} */
  #life = null;
  #list = make('ul', { 'aria-label': 'calls' });
  #alert = make('p', { class: 'error', role: 'alert' });

  connectedCallback() {
    this.replaceChildren(make('h2', { class: 'visually-hidden' }, 'Calls'), this.#list, this.#alert);
    const life = new AbortController();
    this.#life = life;
    const timer = setInterval(() => this.#tick(), TICK);
    life.signal.addEventListener('abort', () => clearInterval(timer));
    this.render();
  }

  disconnectedCallback() { this.#life?.abort(); }

  /** @param {Speak} model @param {Frames} frames */
  watch(model, frames) {
    this.#speak = model;
    this.#frames = frames;
    model.addEventListener('plumb-speak-change', () => this.render());
  }

  /** @param {string} id */
  select(id) {
    this.#selected = id;
    this.render();
  }

  render() {
    const calls = this.#speak?.state.calls ?? [];
    const focused = document.activeElement instanceof HTMLElement && this.contains(document.activeElement) ? document.activeElement.dataset.focus : undefined;
    this.#list.replaceChildren(...calls.toReversed().map(call => this.#line(call)));
    if (!calls.length) this.#list.append(make('li', { class: 'quiet' }, 'Nothing has been sent yet.'));
    const again = focused && this.#list.querySelector(`[data-focus="${CSS.escape(focused)}"]`);
    if (again instanceof HTMLElement) again.focus();
  }

  /** @param {Call} call */
  #line(call) {
    const { id, method, target, state, tookMs, sentAt, answer, replayOf } = call;
    const row = answer === undefined ? undefined : this.#frames?.row(answer);
    const isWaiting = state === 'pending';
    const words = state === 'answered' ? (row?.kind === 'error' ? 'error' : 'answered') : state;
    const title = [method, target].filter(Boolean).join(' ') || 'raw text';
    const isBad = row?.kind === 'error' || state === 'lost';
    return make('li', { 'data-state': state, 'data-id': id, 'aria-current': String(id === this.#selected) },
      make('button', { class: 'call', title, 'data-focus': `call ${id}`, click: () => this.dispatchEvent(new CallSelectEvent(id)) },
        make('span', { class: 'quiet mono call-id' }, id),
        make('span', { class: 'mono call-name' }, method && target ? `${method} ` : '', make('b', {}, target || title)),
        replayOf !== undefined && make('span', { class: 'chip' }, `repeat of #${replayOf}`),
        row?.worst ? make('span', { class: `${row.worst} call-state` }, verdict(row)) : make('span', { class: `${isBad ? 'error' : 'quiet'} call-state` }, words),
        make('span', { class: 'took mono', 'data-since': isWaiting && sentAt }, isWaiting ? duration(Math.max(0, Date.now() - sentAt)) : duration(tookMs))),
      isWaiting && make('button', { class: 'cancel', 'data-focus': `cancel ${id}`, 'aria-label': `cancel call ${id}`, click: () => this.#cancel(id) }, 'Cancel'));
  }

  #tick() {
    for (const place of this.#list.querySelectorAll('[data-since]')) {
      place.textContent = duration(Math.max(0, Date.now() - Number(/** @type {HTMLElement} */ (place).dataset.since)));
    }
  }

  /** @param {string} id */
  async #cancel(id) {
    try {
      await speak.cancel(id);
      this.#alert.textContent = '';
    } catch (error) {
      this.#alert.textContent = speak.wordsOf(error);
    }
  }
}
