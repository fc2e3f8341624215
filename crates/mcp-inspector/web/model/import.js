// Importing files: the program reads and checks a file, and shows it on its own page.

import { ask } from './api.js';

/** @import { ImportView } from '../api' */

/** Larger files are not sent. */
const LARGEST = 256 * 1024 * 1024;

/**
 * @param {File} file
 * @param {boolean} isImported whether this page shows an imported file itself
 * @returns {Promise<ImportView>}
 */
export async function send(file, isImported) {
  if (file.size > LARGEST) throw new Error(`${file.name} is larger than ${LARGEST / 1024 / 1024} MiB`);
  const query = new URLSearchParams({ name: file.name });
  return (await ask(`import?${query}`, { method: 'POST', body: file }, isImported ? '../../' : '')).json();
}
