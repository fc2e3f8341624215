// The fragment of the address: the selected frame, the view, the filter and the highlighted words, so that a reload or a
// shared link shows the same.

/** @typedef {{ frame?: number, view: string, filter: string, highlight: string, tab?: string }} Place */

/** @returns {Place} */
export function read() {
  const stated = new URLSearchParams(location.hash.slice(1));
  const frame = Number(stated.get('frame'));
  return {
    frame: frame > 0 ? frame : undefined,
    view: stated.get('view') ?? 'frames',
    filter: stated.get('filter') ?? '',
    highlight: stated.get('highlight') ?? '',
    tab: stated.get('tab') ?? undefined,
  };
}

/** @param {Place} place */
export function write(place) {
  const stated = new URLSearchParams();
  if (place.frame) stated.set('frame', String(place.frame));
  if (place.view !== 'frames') stated.set('view', place.view);
  if (place.filter) stated.set('filter', place.filter);
  if (place.highlight) stated.set('highlight', place.highlight);
  if (place.tab) stated.set('tab', place.tab);
  history.replaceState(null, '', `#${stated}`);
}
