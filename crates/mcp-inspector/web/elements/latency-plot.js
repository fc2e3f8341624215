// A plot of response times, with a point for each answer.

import { make } from '../model/dom.js';
import { duration } from '../model/format.js';
import { draw } from '../model/svg.js';

/** @import { Answered } from '../api' */

const [WIDTH, HEIGHT, LEFT] = [460, 150, 56];
const MOST_NAMED = 5;

/** @param {Answered[]} answers @param {(number: number) => void} go */
export function latencyPlot(answers, go) {
  if (!answers.length) return make('p', { class: 'quiet' }, 'No response times yet.');
  const sorted = answers.map(({ took }) => took).sort((one, other) => one - other);
  const at = (/** @type {number} */ part) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))];
  const slowest = Math.max(1, sorted[sorted.length - 1]);
  const words = `${answers.length} ${answers.length === 1 ? 'answer' : 'answers'}: half within ${duration(at(0.5))}, 95% within ${duration(at(0.95))}, the slowest ${duration(sorted[sorted.length - 1])}`;
  const plot = draw('svg', { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, class: 'plot', role: 'img', 'aria-label': words });
  const y = (/** @type {number} */ took) => HEIGHT - 16 - (took / slowest) * (HEIGHT - 32);
  for (const took of [0, slowest / 2, slowest]) {
    plot.append(
      draw('line', { x1: LEFT, x2: WIDTH, y1: y(took), y2: y(took), class: 'grid' }),
      draw('text', { x: LEFT - 6, y: y(took) + 4, 'text-anchor': 'end' }, duration(Math.round(took))));
  }
  answers.forEach(({ number, method, took, failed }, index) => {
    const x = LEFT + 6 + (index / Math.max(1, answers.length - 1)) * (WIDTH - LEFT - 14);
    const point = draw('circle', { cx: x, cy: y(took), r: 3.5, class: failed ? 'point failed' : 'point', 'data-frame': number },
      draw('title', {}, `#${number} ${method} ${duration(took)}`));
    point.addEventListener('click', () => go(number));
    plot.append(point);
  });
  return make('figure', {}, plot, make('figcaption', { class: 'quiet' }, words), slowestOf(answers, go));
}

/** A list of the slowest answers: points cannot be reached with the keyboard. @param {Answered[]} answers @param {(number: number) => void} go */
function slowestOf(answers, go) {
  const list = make('ol', { class: 'slowest' });
  for (const { number, method, took } of answers.toSorted((one, other) => other.took - one.took).slice(0, MOST_NAMED)) {
    list.append(make('li', {}, make('button', { class: 'link', click: () => go(number) }, `#${number} ${method || 'answer'}`), ` ${duration(took)}`));
  }
  return list;
}
