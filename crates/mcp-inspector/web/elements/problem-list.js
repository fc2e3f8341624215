// All findings by rule and side, the worst first, as `plumb check` groups them.

import * as api from '../model/api.js';
import { make } from '../model/dom.js';
import { FrameSelectEvent, RuleOpenEvent } from './events.js';
import { inline } from './markdown.js';

/** @import { Problem } from '../api' */

const MOST_LINKS = 30;

export class ProblemListElement extends HTMLElement {
  connectedCallback() {
    this.setAttribute('role', 'region');
    this.setAttribute('aria-label', 'problems');
    this.tabIndex = 0;
  }

  async load() {
    try {
      this.#render(await api.problems());
    } catch (error) {
      this.replaceChildren(make('p', { class: 'empty', role: 'alert' }, error instanceof Error ? error.message : String(error)));
    }
  }

  /** @param {Problem[]} problems */
  #render(problems) {
    if (!problems.length) {
      this.replaceChildren(make('p', { class: 'empty' }, 'No problems found so far.'));
      return;
    }
    const sum = (/** @type {string} */ severity, /** @type {string} */ word) => {
      const count = problems.filter(problem => problem.severity === severity).reduce((sum, problem) => sum + problem.count, 0);
      return count && `${count} ${word}${count === 1 ? '' : 's'}`;
    };
    const counts = [sum('error', 'error'), sum('warning', 'warning')].filter(Boolean).join(' and ');
    const rules = `${problems.length} ${problems.length === 1 ? 'rule is' : 'rules are'} broken`;
    const list = make('ul', { class: 'problems' });
    for (const problem of problems) list.append(this.#problem(problem));
    this.replaceChildren(make('h2', {}, counts, make('span', { class: 'quiet' }, ` · ${rules}`)), list);
  }

  /** @param {Problem} problem */
  #problem({ rule, atFault, severity, count, summary, frames, message }) {
    const links = make('div', { class: 'frames-of' }, make('span', { class: 'quiet' }, frames.length === 1 ? 'Frame' : 'Frames'));
    for (const number of frames.slice(0, MOST_LINKS)) {
      links.append(make('button', { class: 'link', click: () => this.dispatchEvent(new FrameSelectEvent(number, { open: true })) }, `#${number}`));
    }
    if (frames.length > MOST_LINKS) links.append(make('span', { class: 'quiet' }, `and more: filter by rule:${rule}`));
    return make('li', { class: 'problem', 'data-rule': rule, 'data-severity': severity },
      make('p', { class: 'finding-head' },
        make('strong', { class: severity }, severity === 'error' ? '✖ error' : '▲ warning'),
        make('button', { class: 'link mono', title: 'Explain this rule', click: () => this.dispatchEvent(new RuleOpenEvent(rule)) }, rule),
        atFault && make('span', { class: 'quiet' }, `by the ${atFault}`),
        count > 1 && make('span', { class: 'count', 'data-severity': severity }, `${count}×`)),
      make('p', {}, ...inline(summary)),
      make('p', { class: 'quiet' }, count > 1 ? 'First: ' : '', ...inline(message)),
      links);
  }
}
