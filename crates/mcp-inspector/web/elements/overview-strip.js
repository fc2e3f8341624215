// All frames over time: a bar from each request to its answer, and marks for findings. Dragging or the arrow keys select
// a range.

import { duration } from '../model/format.js';

/** @import { Frames } from '../model/frames.js' */

const LANES = 6;
const [LEFT, RIGHT] = [4, 6];
/** The step of an arrow key, as a fraction of the whole. */
const STEP = 0.05;

export class OverviewStripElement extends HTMLElement {
  /** @type {Frames | null} */
  #frames = null;
  #canvas = document.createElement('canvas');
  /** The start and the current position of dragging. @type {[number, number] | null} */
  #drag = null;
  /** @type {[number, number] | null} */
  #chosen = null;

  connectedCallback() {
    const canvas = this.#canvas;
    canvas.setAttribute('role', 'img');
    canvas.setAttribute('aria-label', 'All frames over time. Arrow keys select a range, with Shift they move its end, Escape shows everything.');
    canvas.title = 'Drag to select a time range; click to show everything';
    canvas.tabIndex = 0;
    this.replaceChildren(canvas);
    new ResizeObserver(() => this.#draw()).observe(this);
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.#draw());
    canvas.addEventListener('pointerdown', event => {
      this.#drag = [event.offsetX, event.offsetX];
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener('pointermove', event => {
      if (!this.#drag) return;
      this.#drag[1] = event.offsetX;
      this.#draw();
    });
    canvas.addEventListener('pointerup', () => this.#dropped());
    canvas.addEventListener('pointercancel', () => { this.#drag = null; });
    canvas.addEventListener('keydown', event => this.#key(event));
  }

  /** @param {Frames} frames */
  set frames(frames) {
    this.#frames = frames;
    frames.addEventListener('plumb-frames-change', () => {
      this.#chosen = frames.range;
      this.#draw();
    });
  }

  #range() {
    const frames = this.#frames;
    if (!frames?.total) return null;
    const at = (/** @type {number | undefined} */ number) => number === undefined ? undefined : frames.row(number)?.at;
    const from = at(frames.all.find(number => frames.row(number)?.at !== undefined));
    const to = at(frames.all.findLast(number => frames.row(number)?.at !== undefined));
    return from === undefined || to === undefined ? null : { from, length: Math.max(1, to - from) };
  }

  #draw() {
    const frames = this.#frames;
    if (!frames) return;
    const range = this.#range();
    // Recordings may have no times.
    this.hidden = frames.total > 0 && !range;
    const { clientWidth: width, clientHeight: height } = this;
    if (!width) return;
    const ratio = devicePixelRatio || 1;
    this.#canvas.width = width * ratio;
    this.#canvas.height = height * ratio;
    const pen = this.#canvas.getContext('2d');
    if (!pen || !range) return;
    pen.scale(ratio, ratio);
    const style = getComputedStyle(this);
    const color = (/** @type {string} */ token) => style.getPropertyValue(`--plumb-${token}`);
    const x = (/** @type {number} */ at) => LEFT + ((at - range.from) / range.length) * (width - LEFT - RIGHT);
    const selection = this.#drag ?? this.#chosen?.map(x);
    if (selection) {
      const [from, to] = [Math.min(...selection), Math.max(...selection)];
      pen.fillStyle = color('selected');
      pen.fillRect(from, 0, Math.max(2, to - from), height);
    }
    const laneHeight = (height - 14) / LANES;
    // If there are very many, draw only enough to fill the pixels.
    const step = Math.max(1, Math.floor(frames.total / (width * 8)));
    for (let index = 0; index < frames.total; index += step) {
      const row = frames.row(frames.all[index]);
      if (row?.at === undefined) continue;
      pen.fillStyle = color(row.from === 'client' ? 'client' : 'server');
      const y = 4 + (row.number % LANES) * laneHeight;
      if (row.kind === 'request') pen.fillRect(x(row.at), y, Math.max(3, x(row.at + (row.took ?? 0)) - x(row.at)), laneHeight - 1);
      else if (row.kind !== 'result' && row.kind !== 'error') pen.fillRect(x(row.at), y + laneHeight / 3, 2, laneHeight / 2);
    }
    for (const number of frames.all) {
      const row = frames.row(number);
      if (!row?.findings || row.at === undefined) continue;
      pen.fillStyle = color(row.worst === 'error' ? 'error-text' : 'warning-text');
      pen.beginPath();
      pen.arc(x(row.at), height - 6, 3, 0, 7);
      pen.fill();
    }
    this.#label(pen, color, duration(Math.round(range.length)));
  }

  /** The total duration. @param {CanvasRenderingContext2D} pen @param {(token: string) => string} color @param {string} words */
  #label(pen, color, words) {
    pen.font = `11px ${color('mono')}`;
    const { width } = pen.measureText(words);
    const right = this.clientWidth - 6;
    pen.fillStyle = color('page');
    pen.fillRect(right - width - 4, 1, width + 10, 16);
    pen.fillStyle = color('text-faint');
    pen.fillText(words, right - width, 13);
  }

  #dropped() {
    const range = this.#range();
    const drag = this.#drag;
    this.#drag = null;
    if (!range || !drag) return;
    const at = (/** @type {number} */ offset) => range.from + ((offset - LEFT) / (this.clientWidth - LEFT - RIGHT)) * range.length;
    const isClick = Math.abs(drag[1] - drag[0]) < 4;
    this.#choose(isClick ? null : [at(Math.min(...drag)), at(Math.max(...drag))]);
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    const range = this.#range();
    const step = { ArrowLeft: -STEP, ArrowRight: STEP }[event.key];
    if (!range || event.key !== 'Escape' && step === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    if (step === undefined) return this.#choose(null);
    const move = step * range.length;
    const [from, to] = this.#chosen ?? [range.from - move, range.from - move + 0.2 * range.length];
    const next = /** @type {[number, number]} */ (event.shiftKey ? [from, Math.max(from, to + move)] : [from + move, to + move]);
    if (next[1] >= range.from && next[0] <= range.from + range.length) this.#choose(next);
  }

  /** @param {[number, number] | null} chosen */
  #choose(chosen) {
    const start = this.#range()?.from ?? 0;
    const since = (/** @type {number} */ at) => duration(Math.max(0, Math.round(at - start)));
    this.dispatchEvent(new RangeSelectEvent(chosen, chosen ? `${since(chosen[0])} to ${since(chosen[1])}` : ''));
  }
}

/** A time range was selected, or cleared. */
export class RangeSelectEvent extends Event {
  /** @param {[number, number] | null} range @param {string} words */
  constructor(range, words) {
    super('plumb-range-select', { bubbles: true });
    this.range = range;
    this.words = words;
  }
}
