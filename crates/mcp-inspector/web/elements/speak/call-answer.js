// The answer to a call: first the findings, then what the server sent.

import * as api from '../../model/api.js';
import { make } from '../../model/dom.js';
import { duration } from '../../model/format.js';
import * as json from '../../model/json.js';
import { errorTable, listedFaults } from '../error-table.js';
import { FrameSelectEvent, SpanShowEvent } from '../events.js';
import { differenceTable } from './difference-table.js';

/** @import { Call, Detail } from '../../api' */
/** @import { FindingCardElement } from '../finding-card.js' */
/** @import { JsonTreeElement } from '../json-tree.js' */
/** @import { RawViewElement } from '../raw-view.js' */

const LONGEST = 20_000;

export class CallAnswerElement extends HTMLElement {
  /** @type {AbortController | null} */
  #loading = null;

  connectedCallback() {
    this.setAttribute('role', 'region');
    this.setAttribute('aria-label', 'answer');
    this.addEventListener('plumb-span-show', event => {
      const { span, scroll } = /** @type {SpanShowEvent} */ (event);
      if (scroll) this.querySelector('details.whole')?.setAttribute('open', '');
      const raw = /** @type {RawViewElement | null} */ (this.querySelector('plumb-raw-view'));
      raw?.point(span[0], scroll);
    });
    if (!this.childElementCount) this.clear();
  }

  clear() {
    this.replaceChildren(make('p', { class: 'empty' }, 'Answers appear here.'));
  }

  /** @param {Call} call */
  async show(call) {
    this.#loading?.abort();
    const loading = new AbortController();
    this.#loading = loading;
    const { signal } = loading;
    if (call.answer === undefined) {
      this.replaceChildren(this.#head(call), make('p', { class: call.state === 'pending' ? 'quiet' : 'error', role: 'status' }, waitingWords(call)));
      return;
    }
    try {
      const detail = await api.frame(call.answer, signal);
      const request = call.frame === undefined ? null : await api.frame(call.frame, signal).catch(() => null);
      const first = call.firstAnswer === undefined ? null : await api.frame(call.firstAnswer, signal).catch(() => null);
      if (!signal.aborted) this.#render(call, detail, request, first);
    } catch (error) {
      if (!signal.aborted) this.replaceChildren(this.#head(call), make('p', { class: 'error', role: 'alert' }, error instanceof Error ? error.message : String(error)));
    }
  }

  /** @param {Call} call */
  #head({ id, method, target, frame, answer, tookMs }) {
    const link = (/** @type {number | undefined} */ number, /** @type {string} */ words) => number !== undefined
      && make('button', { class: 'link', click: () => this.dispatchEvent(new FrameSelectEvent(number)) }, `${words} #${number}`);
    return make('header', { class: 'answer-head' }, make('h2', {}, [method || 'raw text', target].filter(Boolean).join(' ')),
      make('span', { class: 'quiet' }, `id ${id}`), link(frame, 'sent as'), link(answer, 'answered by'),
      tookMs !== undefined && make('span', { class: 'quiet' }, duration(tookMs)));
  }

  /** @param {Call} call @param {Detail} detail @param {Detail | null} request @param {Detail | null} first */
  #render(call, detail, request, first) {
    const parts = [this.#head(call), this.#says(detail, request)];
    if (first?.text !== undefined && detail.text !== undefined) {
      parts.push(make('section', {}, make('h3', {}, `Compared with the first answer, #${first.row.number}`), differenceTable(first.text, detail.text)));
    }
    parts.push(this.#sent(detail, request));
    this.replaceChildren(...parts);
  }

  /** @param {Detail} detail @param {Detail | null} request */
  #says(detail, request) {
    const section = make('section', { class: 'plumb-says' }, make('h3', {}, 'plumb says'));
    const cards = (/** @type {Detail} */ { findings }) => findings.map(finding => {
      const card = /** @type {FindingCardElement} */ (document.createElement('plumb-finding-card'));
      card.show(finding);
      return card;
    });
    section.append(...cards(detail));
    if (!detail.findings.length) {
      section.append(make('p', { class: 'quiet' }, detail.row.judged === false ? 'The answer was not checked.' : 'Nothing wrong found with this answer.'));
    }
    const count = request?.findings.length;
    if (request && count) {
      section.append(make('details', {}, make('summary', {}, `${count} ${count === 1 ? 'finding' : 'findings'} about what was sent`), ...cards(request)));
    }
    return section;
  }

  /** @param {Detail} detail @param {Detail | null} request */
  #sent(detail, request) {
    const section = make('section', { class: 'server-sent' }, make('h3', {}, 'The server sent'));
    const { text, findings } = detail;
    const root = text === undefined || detail.cutFrom ? null : json.read(text);
    if (text === undefined || !root) {
      section.append(make('p', { class: 'quiet' }, 'Too long to show here, or not JSON. Open its frame.'));
      return section;
    }
    const faults = listedFaults(text);
    section.append(...summary(text));
    if (faults) section.append(errorTable(faults, request?.text === undefined ? null : { text: request.text, number: request.row.number }));
    const tree = /** @type {JsonTreeElement} */ (document.createElement('plumb-json-tree'));
    tree.show(text, root, findings);
    const raw = /** @type {RawViewElement} */ (document.createElement('plumb-raw-view'));
    raw.show(text, findings);
    section.append(make('h3', {}, 'Message'), tree, make('details', { class: 'whole' }, make('summary', {}, 'Raw, byte for byte'), raw));
    return section;
  }
}

/** @param {Call} call */
function waitingWords({ state, reason }) {
  if (state === 'pending') return 'Waiting for the answer. You can send other requests meanwhile.';
  return reason ?? (state === 'cancelled' ? 'Cancelled; there was no answer.' : 'The conversation ended without an answer.');
}

/** The readable parts of a message: its error, or the texts of its result. @param {string} text */
function summary(text) {
  /** @type {HTMLElement[]} */
  const parts = [];
  const message = JSON.parse(text);
  if (message?.error !== undefined) {
    const { code, message: words } = message.error ?? {};
    parts.push(make('p', { class: 'error verdict' }, `✖ JSON-RPC error ${code === undefined ? '' : String(code)}: ${typeof words === 'string' ? words : JSON.stringify(words)}`));
  }
  const result = message?.result;
  if (result?.isError === true) parts.push(make('p', { class: 'error verdict' }, '✖ isError: the tool reports a failure'));
  const blocks = [result?.content, result?.contents, result?.messages?.map?.((/** @type {any} */ it) => it?.content)].find(Array.isArray) ?? [];
  for (const block of blocks.slice(0, 50)) {
    const words = block?.text ?? block?.resource?.text;
    if (typeof words === 'string') parts.push(make('pre', { class: 'block' }, words.length > LONGEST ? `${words.slice(0, LONGEST)}… (${words.length} characters)` : words));
    else if (typeof (block?.data ?? block?.blob) === 'string') {
      parts.push(make('p', { class: 'quiet' }, `${block.type ?? 'blob'} ${block.mimeType ?? ''}: ${(block.data ?? block.blob).length} characters of Base64`));
    }
  }
  return parts;
}
