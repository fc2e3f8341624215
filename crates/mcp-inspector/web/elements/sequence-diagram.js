// The last messages as arrows between the two sides.

import { make } from '../model/dom.js';
import { name } from '../model/format.js';
import { draw } from '../model/svg.js';

/** @import { Row } from '../api' */

const [WIDTH, STEP, LEFT, RIGHT] = [480, 26, 26, 454];
const LONGEST = 58;

/** @param {Row[]} rows @param {(number: number) => void} go */
export function sequenceDiagram(rows, go) {
  if (!rows.length) return make('p', { class: 'quiet' }, 'No messages yet.');
  const height = rows.length * STEP + 40;
  const drawing = draw('svg', { viewBox: `0 0 ${WIDTH} ${height}`, class: 'sequence', role: 'group', 'aria-label': `the last ${rows.length} messages between client and server` });
  for (const [x, words] of /** @type {[number, string][]} */ ([[LEFT, 'client'], [RIGHT, 'server']])) {
    drawing.append(draw('text', { x, y: 14, 'text-anchor': 'middle' }, words), draw('line', { x1: x, x2: x, y1: 20, y2: height, class: 'grid' }));
  }
  rows.forEach((row, index) => {
    const y = 44 + index * STEP;
    const isClient = row.from !== 'server';
    const [from, to] = isClient ? [LEFT, RIGHT] : [RIGHT, LEFT];
    const tip = isClient ? to - 8 : to + 8;
    const isAnswer = row.kind === 'result' || row.kind === 'error';
    const kind = ['message', isAnswer ? 'answer' : '', row.worst ?? ''].filter(Boolean).join(' ');
    const sign = row.worst === 'error' ? ' ✖' : row.worst ? ' ▲' : '';
    const label = `#${row.number} ${name(row)}${sign}`;
    const group = draw('g', { class: kind, 'data-frame': row.number, tabindex: 0, role: 'button', 'aria-label': `${label} from the ${isClient ? 'client' : 'server'}` },
      draw('line', { x1: from, x2: to, y1: y, y2: y }),
      draw('path', { d: `M ${tip} ${y - 4} L ${to} ${y} L ${tip} ${y + 4}` }),
      draw('text', { x: (LEFT + RIGHT) / 2, y: y - 5, 'text-anchor': 'middle' }, label.length > LONGEST ? `${label.slice(0, LONGEST)}…` : label));
    group.addEventListener('click', () => go(row.number));
    group.addEventListener('keydown', event => {
      if (event.key !== 'Enter' && event.key !== ' ') return;
      event.preventDefault();
      event.stopPropagation();
      go(row.number);
    });
    drawing.append(group);
  });
  return drawing;
}
