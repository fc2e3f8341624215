// Opens a recording or a HAR capture: chosen with a button, or dropped anywhere on the page.

import { make } from '../model/dom.js';
import { send } from '../model/import.js';
import { ApiError } from '../model/api.js';

export class FileImportElement extends HTMLElement {
  /** Whether this page shows an imported file. */
  isImported = false;
  /** @type {AbortController | null} */
  #life = null;
  #input = make('input', {
    type: 'file', hidden: true, accept: '.jsonl,.ndjson,.json,.har,.txt', 'aria-label': 'recording or HAR capture',
    change: () => this.#chosen(),
  });
  #button = make('button', { title: 'Open a recording or a HAR capture; you can also drop it on the page', click: () => this.#input.click() }, 'Open file…');
  #alert = make('span', { role: 'alert', class: 'error' });

  connectedCallback() {
    this.replaceChildren(this.#button, this.#input, this.#alert);
    const life = new AbortController();
    this.#life = life;
    const { signal } = life;
    const hasFile = (/** @type {DragEvent} */ event) => event.dataTransfer?.types.includes('Files');
    document.addEventListener('dragover', event => {
      if (!hasFile(event)) return;
      event.preventDefault();
      document.body.dataset.dropping = '';
    }, { signal });
    document.addEventListener('dragleave', event => {
      if (!event.relatedTarget) delete document.body.dataset.dropping;
    }, { signal });
    document.addEventListener('drop', event => {
      delete document.body.dataset.dropping;
      if (!hasFile(event)) return;
      event.preventDefault();
      const file = event.dataTransfer?.files[0];
      if (file) this.open(file);
    }, { signal });
  }

  disconnectedCallback() { this.#life?.abort(); }

  #chosen() {
    const file = this.#input.files?.[0];
    this.#input.value = '';
    if (file) this.open(file);
  }

  /** @param {File} file */
  async open(file) {
    this.#button.disabled = true;
    this.#alert.textContent = '';
    try {
      const { address } = await send(file, this.isImported);
      location.assign(address);
    } catch (error) {
      const words = error instanceof Error ? error.message : String(error);
      this.#alert.textContent = [`${file.name}: ${words}`, error instanceof ApiError && error.help].filter(Boolean).join('; ');
    } finally {
      this.#button.disabled = false;
    }
  }
}
