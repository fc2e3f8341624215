// Formats numbers, times and names for display.

/** @import { Row } from '../api' */

/** @param {number | undefined} millis */
export function clock(millis) {
  if (millis === undefined) return '';
  const date = new Date(millis);
  const two = (/** @type {number} */ figure) => String(figure).padStart(2, '0');
  return `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}.${String(date.getMilliseconds()).padStart(3, '0')}`;
}

/** @param {number} bytes */
export function size(bytes) {
  if (bytes < 1024) return `${bytes} B`;
  return bytes < 1_048_576 ? `${(bytes / 1024).toFixed(1)} KiB` : `${(bytes / 1_048_576).toFixed(1)} MiB`;
}

/** @param {number | undefined} millis */
export function duration(millis) {
  if (millis === undefined) return '';
  return millis < 1000 ? `${millis} ms` : `${(millis / 1000).toFixed(millis < 10_000 ? 2 : 1)} s`;
}

/** The name of a row. @param {Row} row */
export function name(row) {
  const method = row.method ?? '';
  const of = [method, row.target].filter(Boolean).join(' ');
  switch (row.kind) {
    case 'request': case 'notification': return of || row.kind;
    case 'result': return of ? `↩ ${of}` : 'result';
    case 'error': return of ? `↩ error: ${of}` : 'error';
    case 'batch': return `batch of ${row.entries}`;
    case 'malformed': return method ? `malformed ${method}` : 'not a message';
    case 'text': return 'not JSON';
    case 'http-request': return row.http ?? 'HTTP request';
    case 'http-response': return `HTTP ${row.status ?? ''}`;
    case 'event': return 'event without a message';
    case 'end': return 'end of the stream';
    case 'stderr': return 'standard error';
    case 'exit': return 'the process has exited';
    case 'too-long': return 'too long to be kept';
    case 'gap': return 'some frames are missing here';
    default: return row.kind;
  }
}

/** @param {Row} row */
export function verdict(row) {
  if (row.judged === false) return '? not judged';
  if (!row.findings) return '';
  const sign = row.worst === 'error' ? '✖' : '▲';
  return `${sign} ${row.findings} ${row.worst}${row.findings > 1 ? 's' : ''}`;
}
