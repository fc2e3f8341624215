// All frames over time: a bar from each request to its answer, and marks for findings. Dragging selects a range.

/** @import { Frames } from '../model/frames.js' */

const LANES = 6;

export class OverviewStripElement extends HTMLElement {
  /** @type {Frames | null} */
  #frames = null;
  #canvas = document.createElement('canvas');
  /** @type {number | null} */
  #from = null;

  connectedCallback() {
    this.#canvas.setAttribute('role', 'img');
    this.#canvas.setAttribute('aria-label', 'overview of all frames over time');
    this.replaceChildren(this.#canvas);
    new ResizeObserver(() => this.#draw()).observe(this);
    this.#canvas.addEventListener('pointerdown', event => {
      this.#from = event.offsetX;
      this.#canvas.setPointerCapture(event.pointerId);
    });
    this.#canvas.addEventListener('pointerup', event => this.#choose(event.offsetX));
  }

  /** @param {Frames} frames */
  set frames(frames) {
    this.#frames = frames;
    frames.addEventListener('plumb-frames-change', () => this.#draw());
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
    const { clientWidth: width, clientHeight: height } = this;
    if (!frames || !width) return;
    const ratio = devicePixelRatio || 1;
    this.#canvas.width = width * ratio;
    this.#canvas.height = height * ratio;
    const pen = this.#canvas.getContext('2d');
    if (!pen) return;
    pen.scale(ratio, ratio);
    const style = getComputedStyle(this);
    const color = (/** @type {string} */ token) => style.getPropertyValue(`--plumb-${token}`);
    const range = this.#range();
    if (!range) return;
    const x = (/** @type {number} */ at) => 4 + ((at - range.from) / range.length) * (width - 10);
    const laneHeight = (height - 14) / LANES;
    // Of very many, enough to fill the pixels.
    const step = Math.max(1, Math.floor(frames.total / (width * 8)));
    for (let index = 0; index < frames.total; index += step) {
      const row = frames.row(frames.all[index]);
      if (row?.at === undefined) continue;
      pen.fillStyle = color(row.from === 'client' ? 'client' : 'server');
      const y = 4 + (row.number % LANES) * laneHeight;
      if (row.kind === 'request') pen.fillRect(x(row.at), y, Math.max(2, x(row.at + (row.took ?? 0)) - x(row.at)), laneHeight - 1);
      else if (row.kind !== 'result' && row.kind !== 'error') pen.fillRect(x(row.at), y + laneHeight / 3, 1.5, laneHeight / 2);
    }
    for (const number of frames.all) {
      const row = frames.row(number);
      if (!row?.findings || row.at === undefined) continue;
      pen.fillStyle = color(row.worst === 'error' ? 'error-text' : 'warning-text');
      pen.beginPath();
      pen.arc(x(row.at), height - 5, 3, 0, 7);
      pen.fill();
    }
  }

  /** @param {number} to */
  #choose(to) {
    const range = this.#range();
    const from = this.#from;
    this.#from = null;
    if (!range || from === null) return;
    const at = (/** @type {number} */ offset) => range.from + ((offset - 4) / (this.clientWidth - 10)) * range.length;
    const isClick = Math.abs(to - from) < 4;
    this.dispatchEvent(new RangeSelectEvent(isClick ? null : [at(Math.min(from, to)), at(Math.max(from, to))]));
  }
}

/** A range of time was chosen, or all of it. */
export class RangeSelectEvent extends Event {
  /** @param {[number, number] | null} range */
  constructor(range) {
    super('plumb-range-select', { bubbles: true });
    this.range = range;
  }
}
