// An overview of the conversation: the two sides, the tools and their sizes, and open requests.

import * as api from '../model/api.js';
import { make } from '../model/dom.js';
import { clock, name, size } from '../model/format.js';
import * as json from '../model/json.js';
import { FrameSelectEvent } from './events.js';
import { latencyPlot } from './latency-plot.js';
import { sequenceDiagram } from './sequence-diagram.js';

/** @import { Party, Row, SessionView, ToolView } from '../api' */
/** @import { JsonTreeElement } from './json-tree.js' */

export class SessionViewElement extends HTMLElement {
  connectedCallback() {
    this.setAttribute('role', 'region');
    this.setAttribute('aria-label', 'session');
    this.tabIndex = 0;
  }

  async load() {
    try {
      this.#render(await api.session());
    } catch (error) {
      this.replaceChildren(make('p', { class: 'empty', role: 'alert' }, error instanceof Error ? error.message : String(error)));
    }
  }

  /** @param {SessionView} view */
  #render(view) {
    const go = (/** @type {number} */ number) => this.dispatchEvent(new FrameSelectEvent(number, { open: true }));
    const facts = make('dl', { class: 'facts' },
      make('dt', {}, 'Revision'), make('dd', { 'data-fact': 'revision' }, view.revision ?? 'unknown so far'),
      make('dt', {}, 'Era'), make('dd', { 'data-fact': 'era' }, view.era ?? 'unknown so far'),
      make('dt', {}, 'Subscriptions'), make('dd', { 'data-fact': 'subscriptions' }, view.subscriptions.join(', ') || 'none'));
    const card = (/** @type {(Node | string)[]} */ ...parts) => make('section', { class: 'card' }, ...parts);
    const wide = (/** @type {(Node | string)[]} */ ...parts) => make('section', { class: 'card wide' }, ...parts);
    this.replaceChildren(make('div', { class: 'cards' },
      card(make('h2', {}, 'Session'), facts, saving(view.exchanges > 0), ...this.#pending(view.pending, go)),
      card(...this.#party('Client', view.client, go)), card(...this.#party('Server', view.server, go)),
      wide(...this.#tools(view.tools, go)),
      make('div', { class: 'card-row' },
        card(make('h2', {}, 'Response times'), latencyPlot(view.latency, go)),
        card(make('h2', {}, 'Last messages'), sequenceDiagram(view.recent, go)))));
  }

  /** @param {string} title @param {Party} party @param {(number: number) => void} go */
  #party(title, { frame, info, capabilities }, go) {
    const head = make('h2', {}, title);
    if (frame === undefined) return [head, make('p', { class: 'quiet' }, 'Not introduced yet.')];
    const tree = (/** @type {unknown} */ value) => {
      const text = JSON.stringify(value) ?? 'null';
      const view = /** @type {JsonTreeElement} */ (document.createElement('plumb-json-tree'));
      const root = json.read(text);
      if (root) view.show(text, root, []);
      return view;
    };
    return [head, make('dl', { class: 'facts', 'data-party': title.toLowerCase() },
      make('dt', {}, 'Info'), make('dd', {}, info ? tree(info) : 'none'),
      make('dt', {}, 'Capabilities'), make('dd', {}, capabilities ? tree(capabilities) : 'none'),
      make('dt', {}, 'Introduced in'), make('dd', {}, make('button', { class: 'link', click: () => go(frame) }, `#${frame}`)))];
  }

  /** @param {ToolView[]} tools @param {(number: number) => void} go */
  #tools(tools, go) {
    const head = make('h2', {}, 'Tools, and their cost in tokens');
    if (!tools.length) return [head, make('p', { class: 'quiet' }, 'No tools have been listed or called.')];
    const body = make('tbody');
    const sum = { bytes: 0, tokens: 0, calls: 0, resultBytes: 0, resultTokens: 0 };
    for (const tool of tools) {
      sum.bytes += tool.bytes;
      sum.tokens += tool.tokens;
      sum.calls += tool.calls;
      sum.resultBytes += tool.resultBytes;
      sum.resultTokens += tool.resultTokens;
      const { frame } = tool;
      body.append(make('tr', { 'data-tool': tool.name },
        make('th', { scope: 'row', class: 'mono' }, contract(tool)),
        ...figures(tool),
        make('td', { class: 'figure' }, frame === undefined ? 'never' : make('button', { class: 'link', click: () => go(frame) }, `#${frame}`))));
    }
    const titles = make('tr');
    for (const title of ['Tool', 'Definition', '≈ tokens', 'Calls', 'Results', '≈ tokens', 'Listed in']) {
      titles.append(make('th', { scope: 'col', class: title === 'Tool' ? '' : 'figure' }, title));
    }
    const foot = make('tr', {}, make('th', { scope: 'row' }, `All ${tools.length}`), ...figures(sum), make('td'));
    return [head, make('div', { class: 'sideways', role: 'region', 'aria-label': 'tools', tabindex: 0 },
      make('table', { class: 'data' }, make('thead', {}, titles), body, make('tfoot', {}, foot)))];
  }

  /** @param {Row[]} pending @param {(number: number) => void} go */
  #pending(pending, go) {
    const list = make('ul', { 'data-list': 'pending' });
    for (const row of pending) {
      list.append(make('li', {}, make('button', { class: 'link', click: () => go(row.number) }, `#${row.number} ${name(row)}`),
        make('span', { class: 'quiet' }, ` by the ${row.from ?? 'peer'} ${row.at === undefined ? '' : `at ${clock(row.at)}`}`)));
    }
    return [make('h3', {}, 'Requests without an answer'), pending.length ? list : make('p', { class: 'quiet' }, 'None.')];
  }
}

/** @param {boolean} hasHttp */
function saving(hasHttp) {
  const link = (/** @type {string} */ path, /** @type {string} */ file, /** @type {string} */ words) =>
    make('a', { href: path, download: file }, words);
  return make('p', { class: 'saving' },
    'Save with secrets masked: ', link('api/recording', 'recording.jsonl', 'recording'), ' · ',
    link('api/report', 'plumb-report.html', 'HTML report'), hasHttp && ' · ', hasHttp && link('api/har', 'recording.har', 'HAR'),
    make('br'),
    'Save everything: ', link('api/recording?everything=true', 'recording-everything.jsonl', 'recording'), ' · ',
    link('api/report?everything=true', 'plumb-report-everything.html', 'HTML report'),
    hasHttp && ' · ', hasHttp && link('api/har?everything=true', 'recording-everything.har', 'HAR'));
}

/** The definition, collapsed. @param {ToolView} tool */
function contract(tool) {
  if (tool.definition === undefined) return tool.name;
  const text = JSON.stringify(tool.definition);
  const root = json.read(text);
  const place = make('div');
  const details = make('details', {}, make('summary', {}, tool.name), place);
  details.addEventListener('toggle', () => {
    if (!root || place.childElementCount) return;
    const view = /** @type {JsonTreeElement} */ (document.createElement('plumb-json-tree'));
    place.append(view);
    view.show(text, root, []);
  });
  return details;
}

/** @param {{ bytes: number, tokens: number, calls: number, resultBytes: number, resultTokens: number }} tool */
function figures({ bytes, tokens, calls, resultBytes, resultTokens }) {
  return [size(bytes), String(tokens), String(calls), size(resultBytes), String(resultTokens)].map(words => make('td', { class: 'figure' }, words));
}
