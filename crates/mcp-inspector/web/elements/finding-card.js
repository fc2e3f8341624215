// One finding: the rule, who is at fault, what is wrong and what to do.

import { make } from '../model/dom.js';
import { FrameSelectEvent, RuleOpenEvent, SpanShowEvent } from './events.js';

/** @import { Finding } from '../api' */

export class FindingCardElement extends HTMLElement {
  /** @param {Finding} finding */
  show(finding) {
    const { rule, severity, message, help, pointer, span, related, atFault, spec, layer, subject } = finding;
    this.dataset.rule = rule;
    this.dataset.severity = severity;
    this.setAttribute('role', 'group');
    this.setAttribute('aria-label', `${severity}: ${rule}`);
    const head = make('p', {},
      make('strong', { class: severity }, `${severity === 'error' ? '✖ error' : '▲ warning'} `),
      make('button', { class: 'link mono', click: () => this.dispatchEvent(new RuleOpenEvent(rule)) }, rule),
      atFault && make('span', { class: 'quiet' }, ` by the ${atFault}`),
      subject && make('span', {}, make('span', { class: 'quiet' }, ' in '), make('code', { 'data-subject': subject }, subject)));
    const rows = [
      head,
      make('p', { class: 'message' }, message),
      help && make('p', { class: 'help' }, make('span', { class: 'quiet' }, 'help: '), help),
    ];
    if (related) {
      rows.push(make('p', {},
        make('span', { class: 'quiet' }, `${related.reason}: `),
        make('button', { class: 'link', 'data-related': related.line, click: () => this.dispatchEvent(new FrameSelectEvent(related.line)) },
          `frame #${related.line}`)));
    }
    const place = [pointer && `at ${pointer}`, span && `bytes ${span[0]}–${span[1]}`].filter(Boolean).join(', ');
    rows.push(make('p', { class: 'says' },
      'plumb says this ', place && (span
        ? make('button', { class: 'link', click: () => this.dispatchEvent(new SpanShowEvent(span, { scroll: true })) }, place)
        : place),
      `; layer ${layer}`, spec && `; ${spec}`));
    this.replaceChildren(...rows.filter(row => !!row));
    if (span) {
      this.addEventListener('pointerenter', () => this.dispatchEvent(new SpanShowEvent(span, { scroll: false })));
    }
  }
}
