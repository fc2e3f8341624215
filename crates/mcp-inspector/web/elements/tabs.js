// Tabs: arrow keys move between them, and the Tab key moves on to the open panel.

import { make } from '../model/dom.js';

/** @param {string} kind @param {string} label */
export function tabList(kind, label) {
  const list = make('div', { class: kind, role: 'tablist', 'aria-label': label });
  list.addEventListener('keydown', event => {
    const tabs = [...list.querySelectorAll('button')];
    const at = tabs.indexOf(/** @type {HTMLButtonElement} */ (event.target));
    const to = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: tabs.length - 1 }[event.key];
    if (at < 0 || to === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    const tab = tabs[(to + tabs.length) % tabs.length];
    tab.click();
    tab.focus();
  });
  return list;
}

/** Marks the open tab. @param {HTMLElement} list @param {(tab: HTMLButtonElement) => boolean} isOpen */
export function openTab(list, isOpen) {
  for (const tab of list.querySelectorAll('button')) {
    tab.setAttribute('aria-selected', String(isOpen(tab)));
    tab.tabIndex = isOpen(tab) ? 0 : -1;
  }
}
