// The server, the revision, and the status of the conversation.

import { make } from '../../model/dom.js';
import * as speak from '../../model/speak-api.js';

/** @import { Speak } from '../../model/speak.js' */

const WORDS = { idle: 'not connected', connecting: 'connecting…', connected: 'connected', ended: 'ended' };

export class ConnectBarElement extends HTMLElement {
  /** @type {Speak | null} */
  #speak = null;
  #server = make('select', { 'aria-label': 'server' });
  #revision = make('select', { 'aria-label': 'revision', title: 'negotiated: as agreed by initialize; newest: tries server/discover first' });
  #connect = make('button', { class: 'main', click: () => this.connect() }, 'Connect');
  #disconnect = make('button', { click: () => this.#act(speak.disconnect()) }, 'Disconnect');
  #status = make('span', { class: 'state', role: 'status' });
  #reason = make('p', { class: 'reason error', role: 'alert' });
  #demo = make('span', { class: 'switches' });
  #facts = make('details', { class: 'server-facts' });
  /** @type {HTMLElement | null} */
  #serverBox = null;
  #chosen = '';

  connectedCallback() {
    if (this.childElementCount) return;
    const label = (/** @type {string} */ words, /** @type {HTMLElement} */ control) => make('label', {}, make('span', { class: 'quiet' }, words), ' ', control);
    this.#serverBox = label('Server', this.#server);
    this.append(make('div', { class: 'connect-line' }, this.#serverBox, this.#status, this.#facts, make('span', { class: 'spring' }), this.#demo,
      label('Revision', this.#revision), this.#connect, this.#disconnect), this.#reason);
    this.#server.addEventListener('change', () => {
      this.#chosen = this.#server.value;
      this.#render();
    });
  }

  /** @param {Speak} model */
  set speak(model) {
    this.#speak = model;
    model.addEventListener('plumb-speak-change', () => this.#render());
  }

  connect() {
    const [server, revision] = [this.#server.value || undefined, this.#revision.value || undefined];
    return this.#act(speak.connect({ server, revision }));
  }

  /** @param {Promise<import('../../api').SpeakState>} doing */
  async #act(doing) {
    try {
      this.#speak?.take(await doing);
    } catch (error) {
      this.#reason.textContent = speak.wordsOf(error);
    }
  }

  #render() {
    if (!this.#speak) return;
    const { state } = this.#speak;
    fill(this.#server, state.servers.map(({ name, target }) => [name, target && target !== name ? `${name}: ${target}` : name]), this.#chosen || state.server);
    fill(this.#revision, [['', 'negotiated'], ['best', 'newest'], ...state.revisions.map(revision => /** @type {[string, string]} */ ([revision, revision]))], this.#revision.value);
    if (this.#serverBox) this.#serverBox.hidden = state.servers.length < 2;
    const isOpen = state.status === 'connected' || state.status === 'connecting';
    const isAgain = state.status !== 'idle' && this.#server.value === state.server;
    this.#connect.textContent = isAgain ? 'Reconnect' : 'Connect';
    this.#connect.classList.toggle('main', !isOpen || !isAgain);
    this.#disconnect.hidden = !isOpen;
    this.#status.dataset.state = { idle: 'paused', connecting: 'paused', connected: 'live', ended: 'lost' }[state.status];
    const words = state.status === 'connected' && state.revision ? `connected at ${state.revision}` : WORDS[state.status];
    if (this.#status.textContent !== words) this.#status.textContent = words;
    this.#status.title = state.era ? `This revision ${state.era === 'stateless' ? 'is stateless' : 'begins with a handshake'}` : '';
    this.#reason.textContent = state.reason ?? '';
    this.#renderDemo(state.demo);
    this.#renderFacts();
  }

  /** @param {{ misbehave: boolean, toolResults: boolean } | undefined} demo */
  #renderDemo(demo) {
    if (!demo) {
      this.#demo.replaceChildren();
      return;
    }
    if (!this.#demo.childElementCount) {
      for (const [name, words, title] of [
        ['misbehave', 'misbehave', 'The demo server breaks rules on purpose; try its tool break_rules'],
        ['toolResults', 'tool results', 'Invalid arguments are answered with isError results instead of errors'],
      ]) {
        const box = make('input', { type: 'checkbox', name, change: () => this.#act(speak.demo({ [name]: box.checked })) });
        this.#demo.append(make('label', { title }, box, ` ${words}`));
      }
    }
    for (const box of this.#demo.querySelectorAll('input')) box.checked = demo[/** @type {'misbehave'} */ (box.name)];
  }

  #renderFacts() {
    const { serverInfo, capabilities, instructions, status } = /** @type {Speak} */ (this.#speak).state;
    this.#facts.hidden = status === 'idle' || !serverInfo && !capabilities && !instructions;
    if (this.#facts.hidden) return;
    const info = /** @type {Record<string, unknown>} */ (serverInfo && typeof serverInfo === 'object' ? serverInfo : {});
    const names = capabilities && typeof capabilities === 'object' ? Object.keys(capabilities) : [];
    const title = [info.title ?? info.name, info.version].filter(it => typeof it === 'string').join(' ');
    const summary = make('summary', {}, make('strong', {}, title || 'unnamed server'));
    const offers = make('p', {}, make('span', { class: 'quiet' }, 'Offers '));
    for (const name of names) offers.append(make('span', { class: 'chip' }, name), ' ');
    if (!names.length) offers.append('nothing');
    const shown = (/** @type {string} */ words, /** @type {unknown} */ value) => value === undefined ? '' : make('div', {},
      make('h3', {}, words), make('pre', { class: 'block' }, typeof value === 'string' ? value : JSON.stringify(value, null, 2)));
    const isOpen = this.#facts.open;
    this.#facts.replaceChildren(summary, make('div', { class: 'server-words' }, offers, make('div', { class: 'columns' },
      shown('Capabilities, as the server sent them', capabilities), shown('serverInfo', serverInfo), shown('Instructions', instructions))));
    this.#facts.open = isOpen;
  }
}

/** @param {HTMLSelectElement} select @param {[string, string][]} options @param {string} value */
function fill(select, options, value) {
  const wanted = JSON.stringify(options);
  if (select.dataset.options !== wanted) {
    select.dataset.options = wanted;
    select.replaceChildren(...options.map(([value, words]) => make('option', { value }, words)));
  }
  if ([...select.options].some(option => option.value === value)) select.value = value;
}
