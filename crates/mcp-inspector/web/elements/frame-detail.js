// Everything about one frame: findings first, then the message.

import * as api from '../model/api.js';
import { make } from '../model/dom.js';
import * as json from '../model/json.js';
import { detailHead } from './detail-head.js';
import { errorTable, listedFaults } from './error-table.js';
import { SpanShowEvent } from './events.js';
import { schemaView } from './schema-view.js';
import { openTab, tabList } from './tabs.js';

/** @import { Detail } from '../api' */
/** @import { FindingCardElement } from './finding-card.js' */
/** @import { JsonTreeElement } from './json-tree.js' */
/** @import { RawViewElement } from './raw-view.js' */

export class FrameDetailElement extends HTMLElement {
  /** @type {AbortController | null} */
  #loading = null;
  /** @type {number | null} */
  #number = null;
  #tab = 'message';
  /** @type {Detail | null} */
  #detail = null;
  /** @type {number | null} */
  #drawn = null;
  /** @type {string | undefined} */
  #pointer;
  /** Whether there is a server to send to. */
  canSend = false;

  connectedCallback() {
    this.setAttribute('role', 'region');
    this.setAttribute('aria-label', 'selected frame');
    this.tabIndex = -1;
    this.addEventListener('plumb-span-show', event => this.#showSpan(/** @type {SpanShowEvent} */ (event)));
    if (!this.#detail) this.clear();
  }

  clear() {
    this.#number = null;
    this.replaceChildren(make('p', { class: 'empty' }, 'Select a frame to see exactly what was sent, and what is wrong with it.'));
  }

  /** @param {number} number @param {string} [pointer] the value to point at */
  async load(number, pointer) {
    this.#loading?.abort();
    const loading = new AbortController();
    this.#loading = loading;
    try {
      const detail = await api.frame(number, loading.signal);
      if (loading.signal.aborted) return;
      this.#number = number;
      this.#detail = detail;
      this.#pointer = pointer;
      if (pointer !== undefined) this.#tab = 'message';
      const request = detail.row.pair && detail.row.kind === 'error' || detail.row.kind === 'result'
        ? await this.#requestOf(detail, loading.signal) : null;
      if (loading.signal.aborted) return;
      this.#render(detail, request);
      this.querySelector('.pointed')?.scrollIntoView({ block: 'center' });
    } catch (error) {
      if (loading.signal.aborted) return;
      this.replaceChildren(make('p', { class: 'empty', role: 'alert' }, error instanceof Error ? error.message : String(error)));
    }
  }

  get number() { return this.#number; }

  /** The text on the wire, for copying. */
  get text() { return this.#detail?.text ?? ''; }

  /** @param {Detail} detail @param {AbortSignal} signal */
  async #requestOf(detail, signal) {
    if (!detail.row.pair) return null;
    try {
      const { text } = await api.frame(detail.row.pair, signal);
      return text === undefined ? null : { text, number: detail.row.pair };
    } catch {
      return null; // It is no longer in the log.
    }
  }

  /** @param {Detail} detail @param {{ text: string, number: number } | null} request */
  #render(detail, request) {
    const { row, findings, text } = detail;
    const root = text === undefined || detail.cutFrom ? null : json.read(text);
    const parts = [detailHead(detail, this.canSend)];
    for (const finding of findings) {
      const card = /** @type {FindingCardElement} */ (document.createElement('plumb-finding-card'));
      card.show(finding);
      parts.push(card);
    }
    if (!findings.length) {
      parts.push(make('p', { class: 'quiet no-findings' }, row.judged === false
        ? 'Not checked: the proxy had fallen behind.' : 'Nothing wrong found with this frame.'));
    }
    const faults = root && text !== undefined ? listedFaults(text) : null;
    if (faults) {
      parts.push(make('h3', {}, `The ${row.from ?? 'peer'} lists ${faults.length} ${faults.length === 1 ? 'fault' : 'faults'}`), errorTable(faults, request));
    }
    parts.push(this.#content(detail, root));
    // Keep the scroll position when redrawn for a new finding.
    const isSame = this.#drawn === row.number;
    const focused = isSame && document.activeElement instanceof HTMLElement && this.contains(document.activeElement) ? document.activeElement.dataset.tab : undefined;
    this.#drawn = row.number;
    this.replaceChildren(...parts);
    if (!isSame) this.scrollTop = 0;
    if (focused) /** @type {HTMLElement | null} */ (this.querySelector(`[data-tab="${focused}"]`))?.focus();
  }

  /** @param {Detail} detail @param {json.JsonNode | null} root */
  #content(detail, root) {
    const { text, base64, findings, http } = detail;
    /** @type {Record<string, () => Node>} */
    const views = {};
    if (root && text !== undefined) {
      views.message = () => {
        const tree = /** @type {JsonTreeElement} */ (document.createElement('plumb-json-tree'));
        tree.show(text, root, findings, this.#pointer === undefined ? null : json.at(root, this.#pointer));
        return tree;
      };
    }
    views.raw = () => this.#raw(detail, text ?? bytesText(base64 ?? ''));
    if (http) views.http = () => httpView(http);
    if (detail.row.method) views.schema = () => schemaView(detail.row.number);
    const place = make('div', { role: 'tabpanel', 'aria-label': 'the frame' });
    const tabs = tabList('subtabs', 'representations of the frame');
    const open = (/** @type {string} */ tab) => {
      openTab(tabs, button => button.dataset.tab === tab);
      place.replaceChildren(views[tab]());
    };
    for (const tab of Object.keys(views)) {
      tabs.append(make('button', { role: 'tab', 'data-tab': tab, click: () => {
        this.#tab = tab;
        open(tab);
      } }, { message: 'Message', raw: 'Raw', http: 'HTTP', schema: 'Schema' }[tab] ?? tab));
    }
    open(views[this.#tab] ? this.#tab : Object.keys(views)[0]);
    return make('section', {}, tabs, place);
  }

  /** @param {Detail} detail @param {string} text */
  #raw(detail, text) {
    const view = /** @type {RawViewElement} */ (document.createElement('plumb-raw-view'));
    view.show(text, detail.base64 === undefined ? detail.findings : []);
    if (detail.base64 !== undefined) view.prepend(make('p', { class: 'quiet' }, 'Not UTF-8; bytes in hexadecimal:'));
    if (detail.cutFrom) {
      view.append(make('p', {}, make('a', { href: `api/frames/${detail.row.number}/text`, download: `frame-${detail.row.number}.txt` }, 'Save the full text')));
    }
    return view;
  }

  /** @param {SpanShowEvent} event */
  #showSpan({ span, scroll }) {
    if (scroll) {
      this.#tab = 'raw';
      const button = this.querySelector('button[data-tab="raw"]');
      if (button instanceof HTMLElement) button.click();
    }
    const view = /** @type {RawViewElement | null} */ (this.querySelector('plumb-raw-view'));
    view?.point(span[0], scroll);
  }
}

/** @param {string} base64 */
function bytesText(base64) {
  return Array.from(atob(base64), byte => byte.charCodeAt(0).toString(16).padStart(2, '0')).join(' ');
}

/** @param {NonNullable<Detail['http']>} http */
function httpView(http) {
  const first = http.method ? `${http.method} ${http.url ?? ''}` : http.status ? `status ${http.status}` : '';
  const body = make('tbody');
  for (const [header, value] of Object.entries(http.headers ?? {})) {
    for (const one of [value].flat()) body.append(make('tr', {}, make('th', { scope: 'row' }, header), make('td', { class: 'mono' }, String(one))));
  }
  for (const [field, value] of Object.entries(http.sse ?? {})) {
    body.append(make('tr', {}, make('th', { scope: 'row' }, `event ${field}`), make('td', { class: 'mono' }, String(value))));
  }
  const note = [http.exchange && `exchange ${http.exchange}`, http.end && 'the stream ends here'].filter(Boolean).join('; ');
  return make('div', {}, make('p', { class: 'mono' }, first), make('p', { class: 'quiet' }, note), make('table', { class: 'data' }, body));
}
