// A message as a collapsible tree. Values are spelled as they were sent.

import { make } from '../model/dom.js';
import { byteToIndex, keyText } from '../model/json.js';

/** @import { Finding } from '../api' */
/** @import { JsonNode } from '../model/json.js' */

/** Children created at once; more on demand. */
const PAGE = 100;
const LONGEST = 2000;
const OPEN_DEPTH = 4;

export class JsonTreeElement extends HTMLElement {
  #text = '';
  /** @type {{ start: number, end: number, finding: Finding }[]} */
  #spans = [];
  /** The value to point at. @type {JsonNode | null} */
  #pointed = null;

  /** @param {string} text @param {JsonNode} root @param {Finding[]} findings @param {JsonNode | null} [pointed] */
  show(text, root, findings, pointed = null) {
    this.#text = text;
    this.#pointed = pointed;
    const index = byteToIndex(text);
    this.#spans = findings.flatMap(finding => finding.span
      ? [{ start: index(finding.span[0]), end: index(finding.span[1]), finding }] : []);
    this.replaceChildren(this.#node(root, null, 0));
  }

  /** @param {JsonNode} node @param {{ key: string, keyStart: number } | null} member @param {number} depth @returns {HTMLElement} */
  #node(node, member, depth) {
    const key = member && make('span', { class: 'key' }, `${shownKey(member.key)}: `);
    const mark = this.#spans.find(({ start, end }) =>
      (start === node.start && end === node.end) || (member && start === member.keyStart && end <= node.end));
    const marked = mark && { class: 'marked', 'data-severity': mark.finding.severity, 'data-rule': mark.finding.rule, title: mark.finding.message };
    if (node.kind === 'object' || node.kind === 'array') return this.#folder(node, key, marked, depth, mark?.finding);
    const text = this.#text.slice(node.start, node.end);
    const value = make('span', { class: node === this.#pointed ? `${node.kind} pointed` : node.kind }, text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text);
    const line = make('div', {}, key, marked ? make('span', marked, value) : value, remark(mark?.finding));
    if (text.length > LONGEST) line.append(make('span', { class: 'more' }, ` (${text.length} characters, see raw)`));
    return line;
  }

  /** @param {JsonNode} node @param {HTMLElement | null} key @param {Record<string, string> | undefined} marked @param {number} depth @param {Finding} [finding] */
  #folder(node, key, marked, depth, finding) {
    const count = node.members?.length ?? node.elements?.length ?? 0;
    const [open, close] = node.kind === 'object' ? ['{', '}'] : ['[', ']'];
    const unit = node.kind === 'object' ? (count === 1 ? 'member' : 'members') : count === 1 ? 'element' : 'elements';
    const words = count === 0 ? open + close : `${open}…${close}`;
    const title = make('span', { ...marked, ...(!marked && { class: 'more' }) }, words);
    const counted = count > 0 && make('span', { class: 'tally' }, ` ${count} ${unit}`);
    if (node === this.#pointed) title.classList.add('pointed');
    if (!count) return make('div', {}, key, title, remark(finding));
    const holdsMark = [...this.#spans, ...(this.#pointed ? [this.#pointed] : [])].some(({ start, end }) => start >= node.start && end <= node.end);
    const list = make('ul');
    const details = make('details', { open: depth < OPEN_DEPTH || holdsMark }, make('summary', {}, key, title, counted, remark(finding)), list);
    const fill = () => {
      if (details.open && !list.childElementCount) this.#page(list, node, depth, 0);
    };
    details.addEventListener('toggle', fill);
    fill();
    return details;
  }

  /** @param {HTMLElement} list @param {JsonNode} node @param {number} depth @param {number} from */
  #page(list, node, depth, from) {
    const members = node.members?.slice(from, from + PAGE);
    const elements = node.elements?.slice(from, from + PAGE);
    for (const member of members ?? []) list.append(make('li', {}, this.#node(member.value, member, depth + 1)));
    for (const element of elements ?? []) list.append(make('li', {}, this.#node(element, null, depth + 1)));
    const left = (node.members ?? node.elements ?? []).length - from - PAGE;
    if (left <= 0) return;
    const more = make('li', {}, make('button', { class: 'link', click: () => {
      more.remove();
      this.#page(list, node, depth, from + PAGE);
    } }, `${left} more`));
    list.append(more);
  }
}

/** The finding about a value, shown beside it. @param {Finding | undefined} finding */
const remark = finding => finding && make('span', { class: `remark ${finding.severity}` }, ` ${finding.severity === 'error' ? '✖' : '▲'} ${finding.message}`);

/** A name as it was sent; quoted unless it is an identifier. @param {string} key */
function shownKey(key) {
  const text = keyText(key);
  return /^[\w$.\/-]+$/.test(text) ? text : key;
}
