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
  if (given.length > MAX_LENGTH || known.length > MAX_NAMES) return "";
  let best: string | undefined;
  let least = Infinity;
  for (const name of known) {
    if (name.length > MAX_LENGTH) continue;
    const most = Math.max(6, given.length, name.length) / 3;
    const distance = editDistance(given.toLowerCase(), name.toLowerCase());
    if (distance <= most && distance < least && distance < name.length) [best, least] = [name, distance];
  }
  return best === undefined ? "" : `; did you mean ${JSON.stringify(best)}?`;
}

/**
 * Returns the Levenshtein distance (1965), computed with the Wagner–Fischer algorithm (1974). Keeps only the previous
 * row in memory.
 */
function editDistance(a: string, b: string): number {
  let row = [...Array(b.length + 1).keys()];
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const substituted = row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(substituted, row[j]! + 1, next[j - 1]! + 1));
    }
    row = next;
  }
  return row[b.length]!;
}
