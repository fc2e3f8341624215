// All findings by rule and side, the worst first, as `plumb check` groups them.

import * as api from '../model/api.js';
import { make } from '../model/dom.js';
import { FrameSelectEvent, RuleOpenEvent } from './events.js';

/** @import { Problem } from '../api' */

const MOST_LINKS = 30;

export class ProblemListElement extends HTMLElement {
  async load() {
    try {
      this.#render(await api.problems());
    } catch (error) {
      this.replaceChildren(make('p', { class: 'empty', role: 'alert' }, error instanceof Error ? error.message : String(error)));
    }
  }

  /** @param {Problem[]} problems */
  #render(problems) {
    const title = make('h2', {}, problems.length ? `${problems.length} kinds of problems` : 'No problems found so far');
    this.replaceChildren(title, ...problems.map(problem => this.#problem(problem)));
  }

  /** @param {Problem} problem */
  #problem({ rule, atFault, severity, count, summary, frames, message }) {
    const links = make('div', { class: 'frames-of' });
    for (const number of frames.slice(0, MOST_LINKS)) {
      links.append(make('button', { class: 'link', click: () => this.dispatchEvent(new FrameSelectEvent(number, { open: true })) }, `#${number}`));
    }
    if (frames.length > MOST_LINKS) links.append(make('span', { class: 'quiet' }, `and more: filter with rule:${rule}`));
    return make('section', { class: 'problem', 'data-rule': rule },
      make('strong', { class: severity }, severity === 'error' ? '✖ error' : '▲ warning'),
      make('div', {},
        make('button', { class: 'link mono', click: () => this.dispatchEvent(new RuleOpenEvent(rule)) }, rule),
        atFault && make('span', { class: 'quiet' }, ` by the ${atFault}`),
        make('div', {}, summary),
        make('div', { class: 'quiet' }, `first: ${message}`)),
      make('span', { class: 'count' }, `${count}×`),
      links);
  }
}
