// The input field for the filter.

import { make } from '../model/dom.js';
import { TERM_NAMES } from '../model/filter.js';
import { FilterChangeEvent } from './events.js';

export class FilterBarElement extends HTMLElement {
  #input = make('input', {
    type: 'search', 'aria-label': 'filter', spellcheck: 'false', autocomplete: 'off',
    placeholder: `filter: ${TERM_NAMES.map(name => `${name}:`).join(' ')} or text`,
  });
  #alert = make('span', { role: 'alert' });

  connectedCallback() {
    this.replaceChildren(this.#input, this.#alert);
    this.#input.addEventListener('input', () => this.dispatchEvent(new FilterChangeEvent(this.#input.value)));
  }

  get value() { return this.#input.value; }
  set value(text) { this.#input.value = text; }

  /** @param {string} words */
  set fault(words) {
    this.#alert.textContent = words;
    this.#input.setAttribute('aria-invalid', String(words !== ''));
  }

  focus() { this.#input.focus(); }
}
