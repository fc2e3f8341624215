// Creates SVG elements. Text is never parsed as markup.

const SPACE = 'http://www.w3.org/2000/svg';

/**
 * @param {string} tag
 * @param {Record<string, string | number>} given
 * @param {...(Node | string)} children
 */
export function draw(tag, given, ...children) {
  const element = document.createElementNS(SPACE, tag);
  for (const [name, value] of Object.entries(given)) element.setAttribute(name, String(value));
  element.append(...children);
  return element;
}
