// Expands the URI templates of resources (RFC 6570, without lists).

/** By operator: prefix, separator, whether names are included, and whether reserved characters are kept. */
const OPERATORS = /** @type {Record<string, [string, string, boolean, boolean]>} */ ({
  '': ['', ',', false, false], '+': ['', ',', false, true], '#': ['#', ',', false, true], '.': ['.', '.', false, false],
  '/': ['/', '/', false, false], ';': [';', ';', true, false], '?': ['?', '&', true, false], '&': ['&', '&', true, false],
});
const EXPRESSION = /\{([+#./;?&]?)([^{}]*)\}/g;

/** @param {string} list */
const variablesIn = list => list.split(',').map(name => name.replace(/[*]$|:\d+$/, '').trim()).filter(Boolean);

/** @param {string} template */
export function variables(template) {
  return [...new Set([...template.matchAll(EXPRESSION)].flatMap(([, , list]) => variablesIn(list)))];
}

/** @param {string} template @param {Record<string, string | undefined>} values */
export function expand(template, values) {
  return template.replace(EXPRESSION, (_, operator, list) => {
    const [first, between, isNamed, staysReserved] = OPERATORS[operator];
    const parts = variablesIn(list).flatMap(name => {
      const value = values[name];
      if (value === undefined) return [];
      const written = staysReserved ? encodeURI(value) : encodeURIComponent(value);
      return isNamed ? [`${name}=${written}`] : [written];
    });
    return parts.length ? first + parts.join(between) : '';
  });
}
