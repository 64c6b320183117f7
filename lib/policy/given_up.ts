/**
 * Returns a function that reports whether the key or the error of a given-up item contains a text, ignoring case. The
 * text of a key that is not a string is its JSON.
 */
export function matcherOf(search = ""): (kept: { readonly key: unknown; readonly error: string }) => boolean {
  if (search === "") return () => true;
  const lower = search.toLowerCase();
  const contains = (text: string) => text.toLowerCase().includes(lower);
  return ({ key, error }) => contains(error) || contains(textOf(key));
}

function textOf(key: unknown): string {
  if (typeof key === "string") return key;
  try {
    return JSON.stringify(key) ?? String(key);
  } catch {
    return typeof key === "bigint" ? String(key) : "";
  }
}

/**
 * Returns the earliest time of the next item of a redrive that adds an item now. A redrive that is late adds items
 * faster, but makes up for a delay of at most `catchUp`.
 *
 * @param next The earliest time of the item that is added.
 * @param interval The time between two items.
 */
export function nextRedriveAt(next: number, now: number, interval: number, catchUp: number): number {
  return Math.max(next, now - catchUp) + interval;
}
