// Stores what was typed for each server and tool, in this browser.

const PREFIX = 'plumb-input:';
const MOST = 100;
const LONGEST = 50_000;

/** @param {string[]} about */
const nameOf = about => PREFIX + JSON.stringify(about);

/** @param {...string} about @returns {string | undefined} */
export function recall(...about) {
  try {
    return localStorage.getItem(nameOf(about))?.replace(/^\d+ /, '');
  } catch {
    return undefined; // Storage may be blocked.
  }
}

/** @param {string} text @param {...string} about */
export function keep(text, ...about) {
  try {
    if (text.length > LONGEST) return;
    localStorage.setItem(nameOf(about), `${Date.now()} ${text}`);
    dropOld();
  } catch {
    // Storage is full or blocked, so it is not kept.
  }
}

/** @param {...string} about */
export function forget(...about) {
  try {
    localStorage.removeItem(nameOf(about));
  } catch {
    // Nothing was stored.
  }
}

function dropOld() {
  const names = Object.keys(localStorage).filter(name => name.startsWith(PREFIX));
  if (names.length <= MOST) return;
  const age = (/** @type {string} */ name) => Number.parseInt(localStorage.getItem(name) ?? '0', 10);
  for (const name of names.sort((one, other) => age(one) - age(other)).slice(0, names.length - MOST)) localStorage.removeItem(name);
}
