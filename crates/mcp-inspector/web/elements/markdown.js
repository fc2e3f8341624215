// The subset of Markdown used by rule texts: headings, paragraphs, lists, code.

import { make } from '../model/dom.js';

/** @param {string} source */
export function markdown(source) {
  const place = document.createDocumentFragment();
  /** @type {HTMLElement | null} */
  let open = null;
  let code = null;
  for (const line of source.split('\n')) {
    if (line.startsWith('```')) {
      code = code ? null : place.appendChild(make('pre'));
      open = null;
    } else if (code) {
      code.append(`${line}\n`);
    } else if (line.startsWith('#')) {
      place.append(make('h3', {}, ...inline(line.replace(/^#+ */, ''))));
      open = null;
    } else if (/^[-*] /.test(line)) {
      if (open?.tagName !== 'UL') open = place.appendChild(make('ul'));
      open.append(make('li', {}, ...inline(line.slice(2))));
    } else if (!line.trim()) {
      open = null;
    } else if (open) {
      (open.lastElementChild?.tagName === 'LI' ? open.lastElementChild : open).append(' ', ...inline(line.trim()));
    } else {
      open = place.appendChild(make('p', {}, ...inline(line)));
    }
  }
  return place;
}

/** Text with `code` in backticks. @param {string} text */
export function inline(text) {
  return text.split(/(`[^`]+`)/).map(part => part.startsWith('`') && part.length > 1 ? make('code', {}, part.slice(1, -1)) : part);
}
