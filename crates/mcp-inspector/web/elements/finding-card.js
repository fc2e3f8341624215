// One finding: the rule, the side at fault, what is wrong and how to fix it.

import { make } from '../model/dom.js';
import { FrameSelectEvent, RuleOpenEvent, SpanShowEvent } from './events.js';
import { inline } from './markdown.js';

/** @import { Finding } from '../api' */

export class FindingCardElement extends HTMLElement {
  /** @param {Finding} finding */
  show(finding) {
    const { rule, severity, message, help, span, related, atFault, subject } = finding;
    this.dataset.rule = rule;
    this.dataset.severity = severity;
    this.setAttribute('role', 'group');
    this.setAttribute('aria-label', `${severity}: ${rule}`);
    const rows = [
      make('p', { class: 'finding-head' },
        make('strong', { class: severity }, severity === 'error' ? '✖ error' : '▲ warning'),
        make('button', { class: 'link mono', title: 'Explain this rule', click: () => this.dispatchEvent(new RuleOpenEvent(rule)) }, rule),
        atFault && make('span', { class: 'quiet' }, `by the ${atFault}`),
        subject && make('span', {}, make('span', { class: 'quiet' }, 'in '), make('code', { 'data-subject': subject }, subject))),
      make('p', { class: 'message' }, ...inline(message)),
      help && make('p', { class: 'help' }, make('span', { class: 'quiet' }, 'Help: '), ...inline(help)),
      related && make('p', {}, `${related.reason}: `,
        make('button', { class: 'link', 'data-related': related.line, click: () => this.dispatchEvent(new FrameSelectEvent(related.line)) }, `frame #${related.line}`)),
      this.#place(finding),
    ];
    this.replaceChildren(...rows.filter(row => !!row));
    if (span) this.addEventListener('pointerenter', () => this.dispatchEvent(new SpanShowEvent(span, { scroll: false })));
  }

  /** The place, the layer and the part of the specification. @param {Finding} finding */
  #place({ pointer, span, layer, spec }) {
    const bytes = span && (span[0] === span[1] ? `byte ${span[0]}` : `bytes ${span[0]}–${span[1]}`);
    const place = make('p', { class: 'says' }, make('span', {}, 'plumb says'));
    if (pointer) place.append(make('code', {}, pointer));
    if (span && bytes) {
      place.append(make('button', { class: 'link', title: 'Show these bytes', click: () => this.dispatchEvent(new SpanShowEvent(span, { scroll: true })) }, bytes));
    }
    place.append(make('span', {}, `layer ${layer}`));
    if (spec) place.append(make('span', { title: 'The part of the specification' }, spec));
    return place;
  }
}
