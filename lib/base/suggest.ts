/** Nobody misspells a longer text by hand. Comparing it, or comparing with more names, would take long. */
const MAX_LENGTH = 40;
const MAX_NAMES = 200;

/** A hint for a message when a known name is close to the one given: `; did you mean "burst"?`, or nothing. */
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

/** Levenshtein's distance (1965), by Wagner and Fischer's algorithm (1974), of which one row at a time is kept. */
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
