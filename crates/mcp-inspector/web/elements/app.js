// The page: connects the list, the detail, the filter and the keyboard.

import * as api from '../model/api.js';
import { make } from '../model/dom.js';
import { Filter, FilterError } from '../model/filter.js';
import { Frames } from '../model/frames.js';
import * as place from '../model/place.js';
import { Search } from '../model/search.js';
import { openCopyMenu } from './copy-menu.js';
import { openHelp } from './help-dialog.js';
import { openRule } from './rule-dialog.js';
import { openTab, tabList } from './tabs.js';

/** @import { FilterChangeEvent, FrameAgainEvent, FrameSelectEvent, RuleOpenEvent } from './events.js' */
/** @import { FileImportElement } from './file-import.js' */
/** @import { FilterBarElement } from './filter-bar.js' */
/** @import { FrameDetailElement } from './frame-detail.js' */
/** @import { FrameListElement } from './frame-list.js' */
/** @import { ProblemListElement } from './problem-list.js' */
/** @import { SessionViewElement } from './session-view.js' */
/** @import { ConnectionEvent } from '../model/frames.js' */
/** @import { RangeSelectEvent } from './overview-strip.js' */
/** @import { SpeakViewElement } from './speak/speak-view.js' */

const WORDS = { live: 'live', lost: 'plumb has stopped', paused: 'paused' };
const TITLES = {
  live: 'New frames appear as they arrive', lost: 'Start plumb again to continue; the frames shown here stay', paused: 'New frames are held back until you resume',
};
/** The views that show the list and its status. */
const WITH_LIST = ['frames', 'speak'];

export class AppElement extends HTMLElement {
  #frames = new Frames();
  #place = place.read();
  /** @type {AbortController | null} */
  #life = null;
  #filtering = new Search();
  #highlighting = new Search();
  /** @type {[number, number] | null} */
  #range = null;
  #list = /** @type {FrameListElement} */ (document.createElement('plumb-frame-list'));
  #detail = /** @type {FrameDetailElement} */ (document.createElement('plumb-frame-detail'));
  #problems = /** @type {ProblemListElement} */ (document.createElement('plumb-problem-list'));
  #session = /** @type {SessionViewElement} */ (document.createElement('plumb-session-view'));
  #calls = make('button', { 'aria-pressed': 'false', 'data-switch': 'calls', title: 'Show a request and its answer in one row', click: () => this.#showCalls() }, 'Pair answers');
  #paused = make('button', { 'aria-pressed': 'false', title: 'Hold back new frames (Space)', click: () => this.#pause() }, 'Pause');
  #rangeChip = make('button', { class: 'range', title: 'Show the whole time range again', hidden: true, click: () => this.#clearRange() });
  #filter = /** @type {FilterBarElement} */ (document.createElement('plumb-filter-bar'));
  #highlight = make('input', {
    type: 'search', class: 'highlight', 'aria-label': 'highlight', placeholder: 'highlight', spellcheck: 'false', autocomplete: 'off',
    input: () => this.#highlightBy(this.#highlight.value),
  });
  #state = make('span', { class: 'state', role: 'status' }, 'connecting');
  #target = make('span', { class: 'target' });
  #work = make('main', { class: 'work' });
  #views = tabList('tabs', 'views');
  #count = make('span', { class: 'count' });
  /** @type {SpeakViewElement | null} */
  #speak = null;
  #import = /** @type {FileImportElement} */ (document.createElement('plumb-file-import'));
  #notice = make('p', { class: 'notice', role: 'status' });
  #tools = make('div', { class: 'tools', role: 'search' });

  connectedCallback() {
    const life = new AbortController();
    this.#life = life;
    const { signal } = life;
    for (const [view, words] of [['frames', 'Frames'], ['problems', 'Problems'], ['session', 'Session']]) {
      const tab = make('button', { role: 'tab', 'data-view': view, click: () => this.#open(view) }, words);
      if (view === 'problems') tab.append(' ', this.#count);
      this.#views.append(tab);
    }
    const icon = document.querySelector('link[rel="icon"]')?.getAttribute('href') ?? '';
    this.#tools.replaceChildren(this.#filter, this.#highlight, this.#rangeChip, this.#calls, this.#paused);
    this.replaceChildren(
      make('header', { class: 'top' }, make('h1', {}, make('img', { src: icon, alt: '' }), 'plumb', this.#target), this.#views,
        make('span', { class: 'spring' }), this.#state, this.#import, make('button', { class: 'link', title: 'Keys and filter terms (?)', click: openHelp }, 'Help')),
      this.#tools, this.#work, this.#notice);
    this.#list.frames = this.#frames;
    this.#frames.addEventListener('plumb-frames-change', () => this.#changed(), { signal });
    this.#frames.addEventListener('plumb-connection', event => this.#connection(/** @type {ConnectionEvent} */ (event).state), { signal });
    this.addEventListener('plumb-frame-select', event => {
      const { number, open, pointer } = /** @type {FrameSelectEvent} */ (event);
      this.#select(number, open, pointer);
    }, { signal });
    this.addEventListener('plumb-rule-open', event => openRule(/** @type {RuleOpenEvent} */ (event).rule), { signal });
    this.addEventListener('plumb-filter-change', event => this.#filterBy(/** @type {FilterChangeEvent} */ (event).text), { signal });
    this.addEventListener('plumb-detail-close', () => { delete this.#work.dataset.open; }, { signal });
    this.addEventListener('plumb-filter-clear', () => this.#clearFilter(), { signal });
    this.addEventListener('plumb-frame-again', event => {
      const { number, withChanges } = /** @type {FrameAgainEvent} */ (event);
      this.#again(number, withChanges);
    }, { signal });
    this.addEventListener('plumb-range-select', event => {
      const { range, words } = /** @type {RangeSelectEvent} */ (event);
      this.#range = range;
      this.#rangeChip.hidden = !range;
      this.#rangeChip.textContent = `${words} ✕`;
      this.#filterBy(this.#filter.value);
    }, { signal });
    document.addEventListener('keydown', event => this.#key(event), { signal });
    addEventListener('hashchange', () => this.#restore(), { signal });
    const isNew = !location.hash;
    const { view } = place.read();
    this.#restore();
    this.#frames.follow(signal);
    api.about().then(about => {
      this.#target.textContent = about.target;
      this.#target.title = about.target;
      document.title = `${about.target} · plumb`;
      if (about.imported) this.#showImported();
      if (about.canSpeak) this.#addSpeak(isNew || view === 'speak', !!about.demo);
    }, () => this.#connection('lost'));
  }

  disconnectedCallback() { this.#life?.abort(); }

  /** This page shows a file that was imported on another page. */
  #showImported() {
    this.#import.isImported = true;
    this.#target.after(make('a', { href: '../../', class: 'back' }, '← back to the original page'));
  }

  #restore() {
    this.#place = place.read();
    this.#filter.value = this.#place.filter;
    this.#open(this.#place.view);
    this.#filterBy(this.#place.filter);
    this.#highlight.value = this.#place.highlight;
    this.#highlightBy(this.#place.highlight);
    if (this.#place.frame) this.#select(this.#place.frame, false);
  }

  /** @param {boolean} isOpen @param {boolean} begins whether to connect immediately */
  #addSpeak(isOpen, begins) {
    if (this.#speak) return;
    this.#speak = /** @type {SpeakViewElement} */ (document.createElement('plumb-speak-view'));
    const waiting = make('span', { class: 'count', 'data-waits': true });
    this.#views.append(make('button', { role: 'tab', 'data-view': 'speak', click: () => this.#open('speak') }, 'Send ', waiting));
    this.#detail.canSend = true;
    this.#speak.frames = this.#frames;
    this.#speak.speak.addEventListener('plumb-speak-change', () => {
      const count = this.#speak?.speak.state.questions.length ?? 0;
      waiting.textContent = count ? `${count} to answer` : '';
    });
    if (this.#place.frame) this.#speak.select(this.#place.frame);
    this.#open(isOpen ? 'speak' : this.#place.view);
    if (begins) this.#speak.begin();
  }

  /** @param {string} view */
  #open(view) {
    const isKnown = ['problems', 'session'].includes(view) || view === 'speak' && this.#speak;
    this.#place.view = isKnown ? view : 'frames';
    openTab(this.#views, tab => tab.dataset.view === this.#place.view);
    this.#tools.hidden = !WITH_LIST.includes(this.#place.view);
    this.#work.toggleAttribute('data-wide', !WITH_LIST.includes(this.#place.view));
    delete this.#work.dataset.open;
    const main = { problems: this.#problems, session: this.#session }[this.#place.view] ?? this.#list;
    if (this.#place.view === 'speak' && this.#speak) this.#work.replaceChildren(this.#speak);
    else this.#work.replaceChildren(main, this.#detail);
    if (main === this.#problems) this.#problems.load();
    if (main === this.#session) this.#session.load();
    place.write(this.#place);
  }

  /** @param {number} number @param {boolean} open @param {string} [pointer] */
  #select(number, open, pointer) {
    this.#place.frame = number;
    place.write(this.#place);
    this.#list.select(number);
    this.#detail.load(number, pointer);
    this.#speak?.select(number, pointer);
    if (open || this.#work.hasAttribute('data-wide')) this.#work.dataset.open = 'detail';
  }

  #shownFindings = -1;
  #changed() {
    let [findings, worst] = [0, ''];
    for (const number of this.#frames.all) {
      const row = this.#frames.row(number);
      findings += row?.findings ?? 0;
      if (row?.worst && worst !== 'error') worst = row.worst;
    }
    if (findings === this.#shownFindings) return;
    this.#shownFindings = findings;
    this.#count.textContent = findings ? String(findings) : '';
    this.#count.dataset.severity = worst;
    if (this.#place.view === 'problems') this.#problems.load();
    // New findings may be about the frame that is open.
    const number = this.#detail.number;
    if (number !== null && this.#frames.row(number)?.findings) this.#detail.load(number);
  }

  /** @param {'live' | 'lost' | 'paused'} state */
  #connection(state) {
    this.#state.textContent = WORDS[state];
    this.#state.title = TITLES[state];
    this.#state.dataset.state = state;
  }

  /** @param {string} text */
  #filterBy(text) {
    this.#filtering.stop();
    try {
      const filter = Filter.parse(text);
      filter.range = this.#range;
      this.#filter.fault = '';
      this.#place.filter = text;
      place.write(this.#place);
      this.#filtering.start(filter, this.#frames, () => { this.#frames.filter = filter; }, words => { this.#filter.fault = words; });
      this.#frames.filter = filter.isEmpty ? null : filter;
    } catch (error) {
      if (!(error instanceof FilterError)) throw error;
      this.#filter.fault = error.message;
    }
  }

  /** Highlights rows without hiding the others. @param {string} text */
  #highlightBy(text) {
    this.#highlighting.stop();
    const fault = (/** @type {string} */ words) => {
      this.#highlight.setAttribute('aria-invalid', String(words !== ''));
      this.#highlight.title = words;
      if (words) this.#say(words);
    };
    try {
      const filter = Filter.parse(text);
      fault('');
      this.#place.highlight = text;
      place.write(this.#place);
      this.#highlighting.start(filter, this.#frames, () => { this.#frames.highlight = filter; }, fault);
      this.#frames.highlight = filter.isEmpty ? null : filter;
    } catch (error) {
      if (!(error instanceof FilterError)) throw error;
      fault(error.message);
    }
  }

  #showCalls() {
    this.#frames.calls = !this.#frames.calls;
    this.#calls.setAttribute('aria-pressed', String(this.#frames.calls));
  }

  #pause() {
    this.#frames.paused = !this.#frames.paused;
    this.#paused.setAttribute('aria-pressed', String(this.#frames.paused));
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector('dialog[open]')) return;
    const isTyping = event.target instanceof HTMLInputElement && event.target.type !== 'checkbox' || event.target instanceof HTMLTextAreaElement
      || event.target instanceof HTMLSelectElement;
    if (isTyping) {
      if (event.key === 'Escape') event.target.blur();
      return;
    }
    const selected = this.#list.selected ?? 0;
    const go = (/** @type {number | undefined} */ number) => { if (number) this.#select(number, false); };
    /** @type {Record<string, () => void>} */
    const keys = {
      j: () => this.#list.step(1), ArrowDown: () => this.#list.step(1),
      k: () => this.#list.step(-1), ArrowUp: () => this.#list.step(-1),
      n: () => go(this.#frames.finding(selected, 1)), N: () => go(this.#frames.finding(selected || Infinity, -1)),
      p: () => go(this.#frames.row(selected)?.pair ?? this.#frames.row(selected)?.referred),
      y: () => { if (selected) openCopyMenu(selected); },
      r: () => this.#again(selected, false), e: () => this.#again(selected, true),
      f: () => { this.#list.follows = !this.#list.follows; }, ' ': () => this.#pause(), '/': () => this.#toFilter(), h: () => this.#toHighlight(), '?': openHelp,
      Enter: () => this.#enter(selected),
      Escape: () => this.#escape(),
    };
    const act = keys[event.key];
    // Space and Enter belong to the focused element, if it handles them.
    const isTaken = event.target instanceof Element && !!event.target.closest('button, a, summary, input');
    if (!act || (event.key === 'Enter' || event.key === ' ') && isTaken) return;
    event.preventDefault();
    act();
  }

  /** Sends a frame of the client again, unchanged or edited. @param {number} number @param {boolean} withChanges */
  async #again(number, withChanges) {
    const view = this.#speak;
    if (!view) return this.#say('This page only shows traffic: there is no server to send to.');
    const row = this.#frames.row(number);
    const refusal = await (withChanges ? view.edit(row) : view.replay(row));
    this.#say(refusal);
    if (!refusal) this.#open('speak');
  }

  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #saying;
  /** @param {string} words */
  #say(words) {
    this.#notice.textContent = words;
    clearTimeout(this.#saying);
    this.#saying = setTimeout(() => { this.#notice.textContent = ''; }, 6000);
  }

  /** @param {number} number */
  #enter(number) {
    if (!number) return;
    this.#work.dataset.open = 'detail';
    this.#detail.focus();
  }

  #escape() {
    if (this.#work.dataset.open) delete this.#work.dataset.open;
    else if (this.#filter.value || this.#range) this.#clearFilter();
  }

  #toHighlight() {
    if (this.#tools.hidden) this.#open('frames');
    this.#highlight.focus();
  }

  #toFilter() {
    if (this.#tools.hidden) this.#open('frames');
    this.#filter.focus();
  }

  #clearFilter() {
    this.#filter.value = '';
    this.#clearRange();
  }

  #clearRange() {
    this.#range = null;
    this.#rangeChip.hidden = true;
    this.#filterBy(this.#filter.value);
  }
}
