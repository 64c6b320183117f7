/**
 * Maximum length and maximum number of the names to compare. Larger input would take too long, and nobody types longer
 * names by hand.
 */
const MAX_LENGTH = 40;
const MAX_NAMES = 200;

/**
 * Returns a hint for a message if a known name is similar to the given one, such as `; did you mean "burst"?`;
 * otherwise `""`.
 */
export function suggest(given: string, known: readonly string[]): string {
  let hint = "";
  if (given.length > MAX_LENGTH || known.length > MAX_NAMES) return hint;
  let least = Infinity;
  for (const name of known) {
    if (name.length > MAX_LENGTH) continue;
    const distance = editDistance(given.toLowerCase(), name.toLowerCase());
    const most = Math.max(6, given.length, name.length) / 3;
    if (distance > most || distance >= Math.min(least, name.length)) continue;
    least = distance;
    hint = `; did you mean ${JSON.stringify(name)}?`;
  }
  return hint;
}

/**
 * Returns the Levenshtein distance (1965), computed with the Wagner–Fischer algorithm (1974). Keeps only one row in
 * memory.
 */
function editDistance(a: string, b: string): number {
  const row = [...Array(b.length + 1).keys()];
  for (let i = 0; i < a.length; i++) {
    let diagonal = row[0]!++;
    for (let j = 0; j < b.length; j++) {
      const substituted = diagonal + (a[i] === b[j] ? 0 : 1);
      diagonal = row[j + 1]!;
      row[j + 1] = Math.min(substituted, diagonal + 1, row[j]! + 1);
    }
  }
  return row[b.length]!;
}
