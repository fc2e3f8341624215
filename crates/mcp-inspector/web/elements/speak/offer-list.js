// Everything that can be sent: the server's tools, resources, templates and prompts, and the general methods.

import { make } from '../../model/dom.js';
import { everything } from '../../model/operations.js';
import { refresh, wordsOf } from '../../model/speak-api.js';
import { OperationSelectEvent } from './events.js';

/** @import { Operation } from '../../model/operations.js' */
/** @import { Speak } from '../../model/speak.js' */

/** Maximum number of entries shown; the others are found by searching. */
const MOST = 500;

export class OfferListElement extends HTMLElement {
  /** @type {Speak | null} */
  #speak = null;
  #selected = '';
  #search = make('input', { type: 'search', 'aria-label': 'search what the server offers', placeholder: 'Search', spellcheck: 'false', input: () => this.#render() });
  #lists = make('div', { class: 'lists' });
  #alert = make('p', { class: 'error', role: 'alert' });
  #refresh = make('button', { title: 'Request the lists again', click: () => this.#reload() }, 'Refresh');

  connectedCallback() {
    if (this.childElementCount) return;
    this.setAttribute('role', 'navigation');
    this.setAttribute('aria-label', 'operations');
    this.append(make('div', { class: 'offer-head' }, this.#search, this.#refresh), this.#alert, this.#lists);
  }

  /** @param {Speak} model */
  set speak(model) {
    this.#speak = model;
    model.addEventListener('plumb-offer-change', () => this.#render());
    this.#render();
  }

  /** @param {string} key */
  select(key) {
    this.#selected = key;
    for (const button of this.#lists.querySelectorAll('button')) button.setAttribute('aria-current', String(button.dataset.key === key));
  }

  async #reload() {
    if (!this.#speak) return;
    try {
      await refresh();
      await this.#speak.loadOffer();
      this.#alert.textContent = '';
    } catch (error) {
      this.#alert.textContent = wordsOf(error);
    }
  }

  #render() {
    if (!this.#speak) return;
    const { offer } = this.#speak;
    const sought = this.#search.value.toLowerCase();
    const matches = (/** @type {Operation} */ { title, method, offered }) =>
      [title, method, offered?.name, offered?.description].some(text => text?.toLowerCase().includes(sought));
    const sections = everything(offer).map(([title, all]) => {
      const found = sought ? all.filter(matches) : all;
      if (!found.length) return null;
      const list = make('ul');
      for (const operation of found.slice(0, MOST)) list.append(make('li', {}, this.#entry(operation)));
      if (found.length > MOST) list.append(make('li', { class: 'quiet' }, `${found.length - MOST} more; search to find them`));
      return make('section', {}, make('h2', {}, `${title} `, title !== 'Other' && make('span', { class: 'quiet' }, String(all.length))), list);
    });
    const problems = offer.problems.map(words => make('p', { class: 'warning' }, `▲ ${words}`));
    this.#lists.replaceChildren(...problems, ...sections.filter(section => section !== null));
    this.select(this.#selected);
  }

  /** @param {Operation} operation */
  #entry(operation) {
    const { offered, key, title, description } = operation;
    const worst = offered?.findings.some(finding => finding.severity === 'error') ? 'error' : offered?.findings.length ? 'warning' : undefined;
    const mark = worst && make('span', { class: worst, title: offered?.findings.map(finding => finding.message).join('\n') },
      `${worst === 'error' ? '✖' : '▲'} ${offered?.findings.length}`);
    const kind = offered?.destructive ? make('span', { class: 'chip warning', title: 'The server says that it may be destructive' }, 'destructive')
      : offered?.readOnly ? make('span', { class: 'chip', title: 'The server says that it is read-only' }, 'read-only') : null;
    return make('button', { 'data-key': key, 'data-worst': worst, title: description, click: () => this.dispatchEvent(new OperationSelectEvent(operation)) },
      make('span', { class: 'offer-name' }, offered && offered.title && offered.title !== offered.name ? `${title} ` : title,
        offered?.title && offered.title !== offered.name && make('span', { class: 'quiet mono' }, offered.name)), kind, mark);
  }
}
