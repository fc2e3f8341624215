// A request of the server that waits for the user's answer.

import { make } from '../../model/dom.js';
import * as json from '../../model/json.js';
import { pretty, withMember } from '../../model/json-text.js';
import { isObject } from '../../model/schema.js';
import * as speak from '../../model/speak-api.js';
import { FrameSelectEvent } from '../events.js';
import { formFor } from '../form/field.js';
import { MessageSentEvent } from './events.js';

/** @import { Question } from '../../api' */
/** @import { FindingCardElement } from '../finding-card.js' */
/** @import { Field } from '../form/field.js' */
/** @import { JsonTreeElement } from '../json-tree.js' */

const TITLES = /** @type {Record<string, string>} */ ({
  'sampling/createMessage': 'The server requests a message from a model',
  'elicitation/create': 'The server asks you something',
  'roots/list': 'The server asks for your roots',
});
const MOST_ROWS = 10;
const REFUSAL = '{"code":-1,"message":"User rejected the request"}';

export class QuestionCardElement extends HTMLElement {
  /** @type {Question | null} */
  #question = null;
  /** @type {Field | null} */
  #field = null;
  #result = make('textarea', { class: 'mono', rows: 7, spellcheck: 'false', 'aria-label': 'result as JSON', input: () => this.#typed() });
  #error = make('textarea', { class: 'mono', rows: 2, spellcheck: 'false', 'aria-label': 'error as JSON' });
  #form = make('form', { class: 'speak-form', 'aria-label': 'answer', submit: event => event.preventDefault() });
  #alert = make('p', { class: 'error', role: 'alert' });

  /** @param {Question} question */
  show(question) {
    this.#question = question;
    const { method, params, findings, suggestion, frame, id } = question;
    this.dataset.id = id;
    this.setAttribute('role', 'group');
    this.setAttribute('aria-label', `question: ${method}`);
    const root = json.read(params);
    const tree = /** @type {JsonTreeElement} */ (document.createElement('plumb-json-tree'));
    if (root) tree.show(params, root, []); else tree.textContent = params;
    const parsed = parsedObject(params);
    const isElicitation = method === 'elicitation/create';
    if (isElicitation && isObject(parsed.requestedSchema)) {
      this.#field = formFor(parsed.requestedSchema, () => this.#fromForm());
      this.#form.replaceChildren(this.#field.element);
    }
    this.#result.value = pretty(suggestion);
    this.#result.rows = Math.min(MOST_ROWS, this.#result.value.split('\n').length + 1);
    this.#error.value = REFUSAL;
    if (this.#field) this.#typed();
    const cards = findings.map(finding => {
      const card = /** @type {FindingCardElement} */ (document.createElement('plumb-finding-card'));
      card.show(finding);
      return card;
    });
    const button = (/** @type {string} */ words, /** @type {() => void} */ click, kind = '') => make('button', { class: kind, click }, words);
    const buttons = isElicitation ? [
      button('Accept', () => this.#answer(this.#result.value), 'main'), button('Decline', () => this.#answer('{"action":"decline"}')),
      button('Cancel', () => this.#answer('{"action":"cancel"}')),
    ] : [button('Send result', () => this.#answer(this.#result.value), 'main')];
    const words = typeof parsed.message === 'string' && make('p', { class: 'asked' }, parsed.message);
    this.replaceChildren(
      make('header', { class: 'answer-head' }, make('h2', {}, TITLES[method] ?? 'The server asks'), make('code', {}, method), make('span', { class: 'quiet' }, `id ${id}`),
        frame !== undefined && make('button', { class: 'link', click: () => this.dispatchEvent(new FrameSelectEvent(frame)) }, `frame #${frame}`)),
      ...cards, words || '',
      make('div', { class: 'columns' },
        make('div', {}, this.#field ? this.#form : '', root?.members?.length === 0 ? make('p', { class: 'quiet' }, 'No params were sent.')
          : make('details', { open: !this.#field }, make('summary', {}, 'What the server sent'), tree)),
        make('div', {}, make('label', { class: 'pane' }, make('span', { class: 'pane-title' }, 'Result as JSON'), this.#result),
          make('details', {}, make('summary', {}, 'Answer with an error instead'), this.#error, button('Send error', () => this.#refuse())))),
      this.#alert, make('div', { class: 'buttons' }, ...buttons));
  }

  #fromForm() {
    const content = this.#field?.read() ?? '{}';
    this.#result.value = pretty(withMember('{"action":"accept"}', 'content', content));
    this.#form.removeAttribute('inert');
  }

  #typed() {
    const root = json.read(this.#result.value);
    const content = root && json.at(root, '/content');
    const isShown = content && this.#field?.write(content, this.#result.value);
    this.#form.toggleAttribute('inert', !!this.#field && !isShown);
  }

  /** @param {string} result */
  #answer(result) { return this.#send({ result }); }

  #refuse() { return this.#send({ error: this.#error.value }); }

  /** @param {{ result?: string, error?: string }} answer */
  async #send(answer) {
    if (!this.#question) return;
    try {
      const sent = await speak.answer({ id: this.#question.id, ...answer });
      this.dispatchEvent(new MessageSentEvent({ ...sent, id: undefined }));
      if (sent.warning) this.#alert.textContent = sent.warning;
    } catch (error) {
      this.#alert.textContent = speak.wordsOf(error);
    }
  }
}

/** @param {string} text @returns {Record<string, any>} */
function parsedObject(text) {
  try {
    const value = JSON.parse(text);
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}
