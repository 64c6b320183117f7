/**
 * Reports whether version `a` of an object is newer than version `b`. Versions are decimal numbers of any length
 * (KEP-5504). If one of them is not a number, a version counts as newer if it differs from the other.
 */
export function isNewer(a = "", b = ""): boolean {
  if (!/^\d+$/.test(a + b)) return a !== b;
  return a.length === b.length ? a > b : a.length > b.length;
}
