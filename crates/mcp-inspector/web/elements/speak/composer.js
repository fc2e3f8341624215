// The composer: a form, the params as JSON and the whole frame, kept in sync.

import { make } from '../../model/dom.js';
import * as json from '../../model/json.js';
import { compact, memberOf, pretty, withMember } from '../../model/json-text.js';
import * as kept from '../../model/kept.js';
import * as speak from '../../model/speak-api.js';
import { expand } from '../../model/uri-template.js';
import { formFor } from '../form/field.js';
import { MessageSentEvent } from './events.js';
import { longText } from './long-text.js';

/** @import { Finding } from '../../api' */
/** @import { Operation } from '../../model/operations.js' */
/** @import { Speak } from '../../model/speak.js' */
/** @import { SpanShowEvent } from '../events.js' */
/** @import { FindingCardElement } from '../finding-card.js' */
/** @import { Field } from '../form/field.js' */

/** Milliseconds without typing before the message is checked. */
const PAUSE = 150;

export class ComposerElement extends HTMLElement {
  /** @type {Speak | null} */
  speak = null;
  /** @type {Operation | null} */
  #operation = null;
  /** @type {Field | null} */
  #field = null;
  /** The frame that is being edited to be sent again. @type {number | null} */
  #replayed = null;
  /** Whether the frame is sent exactly as typed. */
  #isRaw = false;
  /** @type {AbortController | null} */
  #checking = null;

  #title = make('h2');
  #words = make('div', { class: 'words' });
  #method = make('input', { 'aria-label': 'method', class: 'mono', placeholder: 'method', spellcheck: 'false', input: () => this.#changed() });
  #methods = make('select', { 'aria-label': 'method', change: () => this.#changed() });
  #form = make('form', { class: 'speak-form', 'aria-label': 'form', submit: event => event.preventDefault() });
  #yields = make('p', { class: 'yields', role: 'status' });
  #params = make('textarea', { 'aria-label': 'params as JSON', class: 'mono', rows: 8, spellcheck: 'false', input: () => this.#paramsTyped() });
  #raw = make('textarea', { 'aria-label': 'whole frame', class: 'mono', rows: 5, spellcheck: 'false', input: () => this.#rawTyped() });
  #rawNote = make('span', { class: 'quiet', role: 'status' });
  #compose = make('button', { class: 'compose-again', click: () => this.#composeAgain() }, 'Back to the form and params');
  #says = make('div', { class: 'says-list', 'aria-live': 'polite' });
  #send = make('button', { class: 'main send', click: () => this.send(), title: 'Ctrl+Enter' }, 'Send');
  #reset = make('button', { click: () => this.#begin(true) }, 'Reset');
  #fault = make('p', { class: 'error', role: 'alert' });
  #paramsBox = make('label', { class: 'pane' }, make('span', { class: 'pane-title' }, 'Params as JSON'), this.#params);

  connectedCallback() {
    if (this.childElementCount) return;
    this.setAttribute('role', 'region');
    this.setAttribute('aria-label', 'composer');
    this.append(
      make('header', { class: 'composer-head' }, this.#title, this.#method, this.#methods, make('span', { class: 'spring' }), this.#reset, this.#send),
      this.#words, this.#fault, this.#yields,
      make('div', { class: 'composer-panes' }, this.#form,
        make('div', { class: 'composer-texts' }, this.#says, this.#paramsBox,
          make('label', { class: 'pane' }, make('span', { class: 'pane-title' }, 'Whole frame', this.#rawNote), this.#raw), this.#compose)));
    this.addEventListener('keydown', event => {
      if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      this.send();
    });
    this.addEventListener('plumb-span-show', event => this.#showSpan(/** @type {SpanShowEvent} */ (event)));
  }

  get key() { return this.#operation?.key; }

  /** @param {Operation} operation */
  show(operation) {
    this.#operation = operation;
    this.#replayed = null;
    this.#begin(false);
  }

  /** Edits a frame that was sent, to send it again. @param {number} frame @param {string} text */
  edit(frame, text) {
    this.#operation = { key: `edit ${frame}`, method: '', title: `Frame #${frame}, edited`, params: '', isRaw: true,
      description: 'It gets a new id; the rest is sent as shown here.' };
    this.#begin(true);
    this.#replayed = frame;
    this.#raw.value = pretty(text);
    this.#raw.rows = 20;
    this.#raw.focus();
    this.#rawTyped();
  }

  /** Checks the message again, since the conversation has changed. */
  recheck() { if (this.#operation) this.#check(); }

  async send() {
    if (!this.#operation) return;
    this.#fault.textContent = '';
    this.#send.disabled = true;
    try {
      const sent = this.#replayed !== null ? await speak.replay(this.#replayed, this.#raw.value)
        : this.#isRaw ? await speak.raw(this.#raw.value)
          : await speak.request(this.#methodName, compact(this.#params.value.trim()) || undefined);
      this.dispatchEvent(new MessageSentEvent(sent));
      if (sent.warning) this.#fault.textContent = sent.warning;
    } catch (error) {
      this.#fault.textContent = speak.wordsOf(error);
    } finally {
      this.#send.disabled = false;
      this.recheck();
    }
  }

  /** @returns {[string, string, string]} */
  get #place() { return [this.speak?.state.server ?? '', this.#operation?.key ?? '', this.#methodName]; }

  get #methodName() {
    return this.#operation?.isFree ? this.#method.value.trim() : this.#operation?.methods ? this.#methods.value : this.#operation?.method ?? '';
  }

  /** @param {boolean} isNew whether to ignore what was typed before */
  #begin(isNew) {
    const operation = /** @type {Operation} */ (this.#operation);
    const { title, description, methods, isFree, isRaw, offered } = operation;
    this.#title.textContent = title;
    this.#words.replaceChildren(description ? longText(description) : '');
    this.#method.hidden = !isFree;
    this.#methods.hidden = !methods;
    this.#methods.replaceChildren(...(methods ?? []).map(method => make('option', {}, method)));
    this.#isRaw = !!isRaw;
    this.#raw.rows = isRaw ? 12 : 5;
    this.#paramsBox.hidden = !!isRaw;
    this.#reset.hidden = operation.key.startsWith('edit ');
    this.#fault.textContent = offered?.usable === false ? `The definition is faulty: ${offered.findings[0]?.message ?? ''}` : '';
    if (isNew) kept.forget(...this.#place);
    const before = isNew ? undefined : kept.recall(...this.#place);
    this.#makeForm(operation);
    if (isRaw) {
      this.#raw.value = before ?? '';
      this.#says.replaceChildren();
      this.#rawTyped();
      return;
    }
    this.#params.value = pretty(operation.params);
    if (before !== undefined) {
      this.#params.value = before;
      this.#toForm();
    } else if (operation.fills === 'arguments' || operation.fills === 'template') {
      this.#fromForm(); // With the defaults.
    } else {
      this.#toForm();
    }
    this.#check();
  }

  /** @param {Operation} operation */
  #makeForm({ schema, ref }) {
    const canComplete = ref && isDeclared(this.speak?.state.capabilities, 'completions');
    this.#field = schema ? formFor(schema, () => this.#formTyped(), canComplete ? (name, value) => this.#complete(name, value) : null) : null;
    this.#form.replaceChildren(this.#field?.element ?? '');
    this.#form.hidden = !this.#field;
    this.#yield('');
  }

  #formTyped() {
    this.#fromForm();
    this.#changed();
  }

  #fromForm() {
    const { fills, template } = /** @type {Operation} */ (this.#operation);
    const value = this.#field?.read() ?? '{}';
    const now = json.read(this.#params.value)?.kind === 'object' ? this.#params.value : /** @type {Operation} */ (this.#operation).params;
    const params = fills === 'arguments' ? withMember(now, 'arguments', value)
      : fills === 'template' ? withMember(now, 'uri', JSON.stringify(expand(template ?? '', JSON.parse(value)))) : value;
    this.#params.value = pretty(params);
    this.#isRaw = false;
  }

  #paramsTyped() {
    this.#toForm();
    this.#isRaw = false;
    this.#changed();
  }

  #toForm() {
    if (!this.#field) return;
    const { fills, template } = /** @type {Operation} */ (this.#operation);
    const text = this.#params.value;
    const root = json.read(text);
    if (!root) return this.#yield('The params are not JSON. They are sent as they are; the form is disabled.');
    if (fills === 'template') {
      const made = JSON.stringify(expand(template ?? '', JSON.parse(this.#field.read() ?? '{}')));
      return this.#yield(memberOf(text, 'uri') === made ? '' : 'The form cannot show this URI. The JSON is sent instead.');
    }
    const node = fills === 'arguments' ? json.at(root, '/arguments') : root;
    const isShown = node ? this.#field.write(node, text) : fills === 'arguments' && this.#field.write(/** @type {json.JsonNode} */ (json.read('{}')), '{}');
    this.#yield(isShown ? '' : 'The form cannot show all of this. The JSON is sent instead.');
  }

  /** @param {string} words why the form is disabled, or nothing */
  #yield(words) {
    this.#form.toggleAttribute('inert', words !== '');
    this.#yields.replaceChildren(words, words && ' ', words ? make('button', { click: () => {
      this.#yield('');
      this.#formTyped();
    } }, 'Use the form') : '');
  }

  #rawTyped() {
    const text = this.#raw.value;
    const isRawOnly = this.#operation?.isRaw;
    this.#isRaw = true;
    const [method, params] = [memberOf(text, 'method'), memberOf(text, 'params')];
    if (!isRawOnly && method !== undefined) {
      if (this.#operation?.isFree) this.#method.value = stringOf(method);
      this.#params.value = params === undefined ? '' : pretty(params);
      this.#toForm();
    }
    this.#changed();
  }

  #composeAgain() {
    this.#isRaw = false;
    this.#changed();
  }

  #changed() {
    kept.keep(this.#operation?.isRaw ? this.#raw.value : this.#params.value, ...this.#place);
    this.#check();
  }

  async #check() {
    this.#checking?.abort();
    const checking = new AbortController();
    this.#checking = checking;
    const { signal } = checking;
    const isRawOnly = !!this.#operation?.isRaw;
    this.#rawNote.textContent = this.#isRaw ? ', sent exactly as shown' : ', as it will be sent';
    this.#compose.hidden = !this.#isRaw || isRawOnly;
    await new Promise(wake => setTimeout(wake, PAUSE));
    if (signal.aborted) return;
    if (this.speak?.state.status !== 'connected') {
      this.#judged([]);
      this.#says.replaceChildren(make('p', { class: 'quiet' }, 'Not checked: connect first.'));
      return;
    }
    try {
      const text = this.#raw.value;
      const typed = this.#isRaw ? memberOf(text, 'method') : undefined;
      if (this.#isRaw && typed === undefined) {
        this.#judged([]);
        if (text.trim()) this.#says.replaceChildren(make('p', { class: 'quiet' }, json.read(text)
          ? 'This has no method, so it can only be checked once it is sent.' : 'This is not JSON. A server must cope with that too.'));
        return;
      }
      const composed = await speak.compose(typed === undefined ? this.#methodName : stringOf(typed),
        (this.#isRaw ? memberOf(text, 'params') : compact(this.#params.value.trim())) || undefined, signal);
      if (signal.aborted) return;
      if (!this.#isRaw) this.#raw.value = composed.text;
      this.#judged(composed.findings);
    } catch (error) {
      if (signal.aborted) return;
      this.#judged([]);
      this.#says.replaceChildren(make('p', { class: 'quiet' }, `Not checked: ${speak.wordsOf(error)}`));
    }
  }

  /** @param {Finding[]} findings */
  #judged(findings) {
    this.#field?.clear();
    const base = this.#operation?.fills === 'arguments' ? ['params', 'arguments'] : ['params'];
    const count = findings.length;
    const cards = findings.map(finding => {
      const steps = stepsOf(finding);
      if (this.#field && base.every((step, index) => steps[index] === step)) this.#field.mark(steps.slice(base.length), finding);
      const card = /** @type {FindingCardElement} */ (document.createElement('plumb-finding-card'));
      card.show(finding);
      return card;
    });
    const hasError = findings.some(finding => finding.severity === 'error');
    this.#send.textContent = findings.length ? 'Send anyway' : 'Send';
    this.#send.dataset.severity = hasError ? 'error' : findings.length ? 'warning' : '';
    const details = make('details', { open: !this.#field || this.#form.hasAttribute('inert') },
      make('summary', { class: hasError ? 'error' : 'warning' }, `plumb says: ${count} ${count === 1 ? 'finding' : 'findings'} in this message`), ...cards);
    this.#says.replaceChildren(count ? details : make('p', { class: 'quiet' }, this.#isRaw ? '' : 'Nothing wrong found with this message.'));
  }

  /** @param {SpanShowEvent} event */
  #showSpan({ span, scroll }) {
    if (!scroll || this.#isRaw) return;
    const index = json.byteToIndex(this.#raw.value);
    this.#raw.focus();
    this.#raw.setSelectionRange(index(span[0]), index(span[1]));
  }

  /** @param {string} name @param {string} value @returns {Promise<string[]>} */
  async #complete(name, value) {
    const params = JSON.stringify({ ref: this.#operation?.ref, argument: { name, value } });
    const answer = await this.speak?.ask('completion/complete', params, AbortSignal.timeout(30_000));
    const values = answer?.result?.completion?.values;
    return Array.isArray(values) ? values.filter(value => typeof value === 'string') : [];
  }
}

/** @param {unknown} capabilities @param {string} name */
const isDeclared = (capabilities, name) => !!capabilities && typeof capabilities === 'object' && name in capabilities;

/** @param {string} text of a JSON value */
function stringOf(text) {
  const value = JSON.parse(text);
  return typeof value === 'string' ? value : text;
}

/** The field that a finding belongs to: for a missing member, the field it would have. @param {Finding} finding */
function stepsOf({ pointer = '', params }) {
  const steps = pointer.split('/').slice(1).map(step => step.replaceAll('~1', '/').replaceAll('~0', '~'));
  const missing = params && typeof params === 'object' ? /** @type {Record<string, unknown>} */ (params).missingProperty : undefined;
  return typeof missing === 'string' && steps.at(-1) !== missing ? [...steps, missing] : steps;
}
