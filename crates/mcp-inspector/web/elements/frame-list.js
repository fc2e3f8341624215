// The list of frames: a table that only contains the rows in sight.

import { make } from '../model/dom.js';
import { clock, duration, name, size, verdict } from '../model/format.js';
import { FilterClearEvent, FrameSelectEvent } from './events.js';

/** @import { Row } from '../api' */
/** @import { Frames } from '../model/frames.js' */
/** @import { OverviewStripElement } from './overview-strip.js' */

const HEIGHT = 24;
const MARGIN = 12;
/** Maximum height that browsers lay out, in pixels. */
const TALLEST = 10_000_000;

const COLUMNS = [
  ['number', '#'], ['time', 'Time'], ['from', ''], ['name', 'Frame'], ['id', 'Id'], ['took', 'Took'], ['bytes', 'Size'],
  ['verdict', 'Findings'], ['preview', 'Content'],
];
const SENDERS = { client: 'from the client', server: 'from the server' };

export class FrameListElement extends HTMLElement {
  /** @type {Frames | null} */
  #frames = null;
  /** @type {number | undefined} */
  #selected = undefined;
  #follows = true;
  #body = make('tbody');
  #box = make('div', { class: 'frames', tabindex: 0, role: 'region', 'aria-label': 'frames' });
  #table = make('table', { 'aria-rowcount': 0 });
  #count = make('span', { class: 'list-count', role: 'status' });
  #follow = make('button', { 'aria-pressed': 'true', title: 'Scroll to new frames as they arrive (f)', click: () => { this.follows = !this.#follows; } }, 'Follow');
  #nothing = make('div', { class: 'empty' });
  /** The scroll position before the list was hidden. */
  #top = 0;
  #strip = /** @type {OverviewStripElement} */ (document.createElement('plumb-overview-strip'));
  /** Whether to scroll to the selected frame once it has arrived. */
  #mustReveal = false;

  connectedCallback() {
    if (this.childElementCount) return this.#comeBack();
    const columns = make('colgroup');
    const head = make('tr');
    for (const [key, title] of COLUMNS) {
      columns.append(make('col', { class: `c-${key}` }));
      head.append(make('th', { scope: 'col', class: key }, title || make('span', { class: 'visually-hidden' }, 'from')));
    }
    this.#table.append(columns, make('thead', {}, head), this.#body);
    this.#box.append(this.#table, this.#nothing);
    this.replaceChildren(this.#strip, this.#box, make('div', { class: 'list-foot' }, this.#count, this.#follow));
    this.#box.addEventListener('scroll', () => this.#scrolled());
    this.#box.addEventListener('click', event => this.#clicked(event));
    new ResizeObserver(() => this.render()).observe(this.#box);
  }

  /** A hidden element loses its scroll position. */
  #comeBack() {
    this.#box.scrollTop = this.#top;
    this.render();
  }

  /** @param {Frames} frames */
  set frames(frames) {
    this.#frames = frames;
    this.#strip.frames = frames;
    frames.addEventListener('plumb-frames-change', () => this.render());
  }

  get follows() { return this.#follows; }
  set follows(follows) {
    this.#follows = follows;
    this.render();
  }

  get selected() { return this.#selected; }

  /** @param {number | undefined} number */
  select(number) {
    this.#selected = number;
    this.#mustReveal = number !== undefined;
    this.render();
  }

  /** Moves the selection. @param {number} step */
  step(step) {
    const shown = this.#frames?.shown ?? [];
    const at = this.#selected === undefined ? -1 : place(shown, this.#selected);
    const next = shown[Math.max(0, Math.min(shown.length - 1, at + step))];
    if (next !== undefined) this.dispatchEvent(new FrameSelectEvent(next));
  }

  /** @param {number} number */
  #reveal(number) {
    const at = place(this.#frames?.shown ?? [], number);
    if (at < 0) return;
    this.#mustReveal = false;
    this.#follows = at === (this.#frames?.shown.length ?? 0) - 1 && this.#follows;
    const top = at * this.#scale();
    const height = this.#box.clientHeight - 2 * HEIGHT;
    if (top < this.#box.scrollTop || top > this.#box.scrollTop + height - HEIGHT) {
      this.#box.scrollTop = Math.max(0, top - height / 2);
    }
  }

  /** Height of a row in the scroll area, in pixels. */
  #scale() {
    const count = this.#frames?.shown.length ?? 0;
    return Math.min(HEIGHT, TALLEST / Math.max(1, count));
  }

  #scrolled() {
    const { scrollTop, scrollHeight, clientHeight } = this.#box;
    if (!clientHeight) return;
    this.#top = scrollTop;
    this.#follows = scrollTop + clientHeight >= scrollHeight - HEIGHT;
    this.render();
  }

  /** @param {MouseEvent} event */
  #clicked(event) {
    const row = event.target instanceof Element && event.target.closest('tr[data-number]');
    if (row instanceof HTMLElement) this.dispatchEvent(new FrameSelectEvent(Number(row.dataset.number), { open: true }));
  }

  render() {
    const frames = this.#frames;
    if (!frames) return;
    const shown = frames.shown;
    const scale = this.#scale();
    if (this.#mustReveal && this.#selected !== undefined) {
      // An empty list cannot scroll.
      this.#body.replaceChildren(filler(shown.length * scale));
      this.#reveal(this.#selected);
    }
    const room = Math.ceil(this.#box.clientHeight / HEIGHT);
    if (this.#follows) this.#box.scrollTop = shown.length * scale;
    const first = Math.max(0, Math.min(shown.length - room, Math.floor(this.#box.scrollTop / scale)) - MARGIN);
    const last = Math.min(shown.length, first + room + 2 * MARGIN);
    this.#table.setAttribute('aria-rowcount', String(shown.length));
    this.#box.toggleAttribute('data-untimed', shown.length > 0 && frames.row(shown[0])?.at === undefined && frames.row(shown[shown.length - 1])?.at === undefined);
    const rows = [filler(first * scale)];
    const paired = this.#selected === undefined ? undefined : frames.row(this.#selected)?.pair;
    for (let at = first; at < last; at++) {
      const row = frames.row(shown[at]);
      if (row) rows.push(this.#row(row, at, paired));
    }
    rows.push(filler((shown.length - last) * scale));
    this.#body.replaceChildren(...rows);
    this.#sayNothing(shown.length > 0, frames.total);
    if (this.#follows) this.#box.scrollTop = this.#box.scrollHeight;
    const hidden = frames.total - shown.length;
    const dropped = (frames.all[0] ?? 1) - 1;
    this.#follow.setAttribute('aria-pressed', String(this.#follows));
    const words = [
      `${shown.length} ${frames.calls ? 'rows' : shown.length === 1 ? 'frame' : 'frames'}`,
      hidden > 0 && !frames.calls && `${hidden} hidden by the ${frames.paused ? 'filter or the pause' : 'filter'}`,
      dropped > 0 && `${dropped} older ones dropped`,
    ].filter(Boolean).join(' · ');
    if (this.#count.textContent !== words) this.#count.textContent = words;
  }

  /** @param {Row} row @param {number} at @param {number | undefined} paired */
  #row(row, at, paired) {
    const answer = this.#frames?.calls && row.kind === 'request' && row.pair ? this.#frames.row(row.pair) : undefined;
    const worst = row.worst === 'error' ? row.worst : answer?.worst ?? row.worst;
    const isLit = this.#frames?.isHighlighted(row);
    const arrow = row.from === 'client' ? '→' : row.from === 'server' ? '←' : '·';
    const sender = row.byProxy ? `plumb, on behalf of the ${row.from}` : row.from ? SENDERS[row.from] : '';
    /** @type {Record<string, string>} */
    const cells = {
      number: String(row.number), time: clock(row.at), from: row.byProxy ? `${arrow}*` : arrow, name: name(row), id: row.id ?? '',
      took: row.kind === 'request' && !row.pair ? '…' : duration(row.took), bytes: size(row.bytes), verdict: verdict(answer ? { ...row, worst, findings: row.findings + answer.findings } : row),
      preview: (row.heldBack ? `held back: ${row.preview}` : row.preview) + (answer ? `  ${answer.kind === 'error' ? '↩ error' : '↩'} ${answer.preview}` : ''),
    };
    const line = make('tr', {
      'data-number': row.number, 'data-kind': row.kind, 'data-from': row.from, 'data-worst': worst, 'data-answer': answer?.number,
      'data-paired': row.number === paired, 'data-highlight': isLit, 'aria-rowindex': at + 1,
      'aria-selected': row.number === this.#selected ? 'true' : 'false',
    });
    for (const [key] of COLUMNS) {
      const title = key === 'from' ? sender : key === 'took' && cells.took === '…' ? 'no answer yet' : ['name', 'id', 'preview'].includes(key) ? cells[key] : undefined;
      line.append(make('td', { class: key, title }, key === 'name' ? shownName(row, cells.name) : cells[key]));
    }
    return line;
  }

  /** @param {boolean} hasRows @param {number} total */
  #sayNothing(hasRows, total) {
    this.#nothing.hidden = hasRows;
    const words = total ? 'No frame matches the filter.' : 'Nothing has been sent yet. Frames appear here as they arrive.';
    if (hasRows || this.#nothing.dataset.words === words) return;
    this.#nothing.dataset.words = words;
    this.#nothing.replaceChildren(make('p', {}, words),
      total ? make('button', { click: () => this.dispatchEvent(new FilterClearEvent()) }, 'Show all frames') : '');
  }
}

/** The name, with the tool, prompt or resource emphasized. @param {Row} row @param {string} name */
function shownName({ target }, name) {
  if (!target || !name.endsWith(target)) return name;
  const whole = document.createDocumentFragment();
  whole.append(name.slice(0, -target.length), make('b', {}, target));
  return whole;
}

/** The index of a number in a sorted list, or -1. @param {number[]} numbers @param {number} number */
function place(numbers, number) {
  let [low, high] = [0, numbers.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (numbers[middle] < number) low = middle + 1; else high = middle;
  }
  return numbers[low] === number ? low : -1;
}

/** @param {number} height */
function filler(height) {
  const cell = make('td');
  cell.style.height = `${height}px`;
  return make('tr', { class: 'filler', 'aria-hidden': 'true' }, cell);
}
