// The Send view: what the server offers, the composer, the answers and the frames, all in sight.

import { make } from '../../model/dom.js';
import { Speak } from '../../model/speak.js';
import { wordsOf } from '../../model/speak-api.js';
import { openTab, tabList } from '../tabs.js';
import { canReplay, replay, textOf } from './replay.js';
import { welcome } from './welcome.js';

/** @import { Row } from '../../api' */
/** @import { Frames, SpeakNewsEvent } from '../../model/frames.js' */
/** @import { FrameDetailElement } from '../frame-detail.js' */
/** @import { FrameListElement } from '../frame-list.js' */
/** @import { CallAnswerElement } from './call-answer.js' */
/** @import { CallListElement } from './call-list.js' */
/** @import { ComposerElement } from './composer.js' */
/** @import { ConnectBarElement } from './connect-bar.js' */
/** @import { CallSelectEvent, MessageSentEvent, OperationSelectEvent } from './events.js' */
/** @import { OfferListElement } from './offer-list.js' */
/** @import { QuestionCardElement } from './question-card.js' */

/** The same width as in styles/speak.css. */
const STACKED = matchMedia('(max-width: 980px)');

export class SpeakViewElement extends HTMLElement {
  speak = new Speak();
  /** @type {Frames | null} */
  #frames = null;
  #call = '';
  /** Identifies the state of the answer that is shown. */
  #shown = '';
  #connect = /** @type {ConnectBarElement} */ (document.createElement('plumb-connect-bar'));
  #offers = /** @type {OfferListElement} */ (document.createElement('plumb-offer-list'));
  #composer = /** @type {ComposerElement} */ (document.createElement('plumb-composer'));
  #calls = /** @type {CallListElement} */ (document.createElement('plumb-call-list'));
  #answer = /** @type {CallAnswerElement} */ (document.createElement('plumb-call-answer'));
  #detail = /** @type {FrameDetailElement} */ (document.createElement('plumb-frame-detail'));
  #list = /** @type {FrameListElement} */ (document.createElement('plumb-frame-list'));
  #questions = make('section', { class: 'questions', 'aria-label': 'questions of the server', 'aria-live': 'assertive' });
  #tabs = tabList('subtabs', 'answer or frame');
  #nothing = make('div', { class: 'empty' });
  #status = '';

  connectedCallback() {
    if (this.childElementCount) return;
    for (const [tab, words] of [['answer', 'Answer'], ['frame', 'Frame']]) {
      this.#tabs.append(make('button', { role: 'tab', 'data-tab': tab, click: () => this.#openTab(tab) }, words));
    }
    this.#composer.speak = this.speak;
    this.#connect.speak = this.speak;
    this.append(this.#connect, this.#questions,
      make('div', { class: 'speak-work' }, this.#offers,
        make('div', { class: 'speak-middle' }, this.#nothing, this.#composer),
        make('div', { class: 'speak-answers' }, this.#calls, this.#tabs, this.#answer, this.#detail)),
      make('div', { class: 'speak-frames' }, this.#list));
    this.#composer.hidden = true;
    this.#offers.speak = this.speak;
    this.#detail.canSend = true;
    this.#nothing.replaceChildren(...welcome(this.speak));
    this.#openTab('answer');
    this.speak.addEventListener('plumb-speak-change', () => this.#changed());
    this.addEventListener('plumb-operation-select', event => {
      const { operation } = /** @type {OperationSelectEvent} */ (event);
      this.#nothing.hidden = true;
      this.#composer.hidden = false;
      this.#composer.show(operation);
      this.#offers.select(operation.key);
    });
    this.addEventListener('plumb-message-sent', event => {
      const { id } = /** @type {MessageSentEvent} */ (event).sent;
      if (id === undefined) return;
      this.#selectCall(id);
      // In a single column, the answer may be far down.
      if (STACKED.matches) this.#calls.scrollIntoView({ block: 'start' });
    });
    this.addEventListener('plumb-call-select', event => this.#selectCall(/** @type {CallSelectEvent} */ (event).id));
    this.addEventListener('plumb-frame-select', () => this.#openTab('frame'));
  }

  /** @param {Frames} frames */
  set frames(frames) {
    this.#frames = frames;
    this.#list.frames = frames;
    this.#calls.watch(this.speak, frames);
    frames.addEventListener('plumb-speak-news', event => this.speak.take(/** @type {SpeakNewsEvent} */ (event).state));
    frames.addEventListener('plumb-frames-change', () => {
      this.#showAnswer();
      this.speak.judged(number => frames.row(number)?.findings);
    });
    this.speak.load().catch(() => {}); // The stream reports when the program has ended.
  }

  /** Connects, unless it was connected or tried before. */
  async begin() {
    await this.speak.load().catch(() => {});
    if (this.speak.state.status === 'idle' && !this.speak.state.reason) this.#connect.connect();
  }

  /** Shows a frame that was selected anywhere. @param {number} number @param {string} [pointer] */
  select(number, pointer) {
    this.#list.select(number);
    if (this.isConnected) this.#detail.load(number, pointer);
  }

  /** Sends a frame again. @param {Row | undefined} row @returns {Promise<string>} why not, or nothing */
  async replay(row) {
    if (!row || !canReplay(row)) return 'Only messages from the client can be sent again.';
    try {
      const sent = await replay(row, this.speak);
      if (sent?.id !== undefined) this.#selectCall(sent.id);
      return sent?.warning ?? '';
    } catch (error) {
      return wordsOf(error);
    }
  }

  /** Opens a frame for editing. @param {Row | undefined} row @returns {Promise<string>} why not, or nothing */
  async edit(row) {
    if (!row || !canReplay(row)) return 'Only messages from the client can be edited and sent again.';
    try {
      const text = await textOf(row.number);
      this.#nothing.hidden = true;
      this.#composer.hidden = false;
      this.#composer.edit(row.number, text);
      return '';
    } catch (error) {
      return wordsOf(error);
    }
  }

  #changed() {
    const { status, questions, session } = this.speak.state;
    for (const card of this.#questions.querySelectorAll('plumb-question-card')) {
      if (!questions.some(question => question.id === /** @type {HTMLElement} */ (card).dataset.id)) card.remove();
    }
    for (const question of questions) {
      if (this.#questions.querySelector(`plumb-question-card[data-id="${CSS.escape(question.id)}"]`)) continue;
      const card = /** @type {QuestionCardElement} */ (document.createElement('plumb-question-card'));
      card.show(question);
      this.#questions.append(card);
    }
    if (`${status} ${session}` !== this.#status) {
      this.#nothing.replaceChildren(...welcome(this.speak));
      this.#status = `${status} ${session}`;
      this.#composer.recheck();
    }
    this.#showAnswer();
  }

  /** @param {string} id */
  #selectCall(id) {
    this.#call = id;
    this.#shown = '';
    this.#calls.select(id);
    this.#openTab('answer');
    this.#showAnswer();
  }

  #showAnswer() {
    const call = this.speak.call(this.#call);
    if (!call) return;
    const findings = [call.answer, call.frame].map(number => number === undefined ? '' : this.#frames?.row(number)?.findings ?? '?');
    const shown = JSON.stringify([call, findings]);
    if (shown === this.#shown) return;
    this.#shown = shown;
    this.#calls.render();
    this.#answer.show(call);
  }

  /** @param {string} tab */
  #openTab(tab) {
    openTab(this.#tabs, button => button.dataset.tab === tab);
    this.#answer.hidden = tab !== 'answer';
    this.#detail.hidden = tab !== 'frame';
  }
}
