/** When a run is to end early, as items are given up. */
export interface Halt {
  /** Whether what runs is finished, or killed. */
  readonly when: "soon" | "now";
  /** How many items, or what part of those that were decided, from 0 to 1. */
  readonly limit: { readonly count: number } | { readonly part: number };
}

/** Where a part is the limit, so many have to be given up at least: the first item alone would be all of them. */
const MIN_GIVEN_UP = 3;

/** Reads `soon,fail=3` or `now,fail=10%`; `undefined` if it is neither. */
export function parseHalt(text: string): Halt | undefined {
  const [, when, number, percent] = /^(soon|now),fail=(\d+(?:\.\d+)?)(%?)$/.exec(text) ?? [];
  if (when === undefined) return undefined;
  const value = Number(number);
  const isValid = percent === "%" ? value > 0 && value <= 100 : Number.isInteger(value) && value > 0;
  if (!isValid) return undefined;
  return { when: when as Halt["when"], limit: percent === "%" ? { part: value / 100 } : { count: value } };
}

/** Whether so many are too many. */
export function isTooMany({ limit }: Halt, givenUp: number, succeeded: number): boolean {
  if ("count" in limit) return givenUp >= limit.count;
  return givenUp >= MIN_GIVEN_UP && givenUp / (givenUp + succeeded) >= limit.part;
}
