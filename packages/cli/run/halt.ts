/** Limit on given-up items. A run that reaches the limit ends early. */
export interface Halt {
  /** Whether running commands may finish (`"soon"`) or are killed (`"now"`). */
  readonly when: "soon" | "now";
  /** Number of given-up items, or the fraction of decided items that were given up, from 0 to 1. */
  readonly limit: { readonly count: number } | { readonly part: number };
}

/**
 * Minimum number of given-up items before a fractional limit can be reached. Without a minimum, the first given-up item
 * alone could be 100 %.
 */
const MIN_GIVEN_UP = 3;

/** Parses `soon,fail=3` or `now,fail=10%`; `undefined` for any other text. */
export function parseHalt(text: string): Halt | undefined {
  const [, when, number, percent] = /^(soon|now),fail=(\d+(?:\.\d+)?)(%?)$/.exec(text) ?? [];
  if (when === undefined) return undefined;
  const value = Number(number);
  const isValid = percent === "%" ? value > 0 && value <= 100 : Number.isInteger(value) && value > 0;
  if (!isValid) return undefined;
  return { when: when as Halt["when"], limit: percent === "%" ? { part: value / 100 } : { count: value } };
}

/** Reports whether the limit is reached. */
export function isTooMany({ limit }: Halt, givenUp: number, succeeded: number): boolean {
  if ("count" in limit) return givenUp >= limit.count;
  return givenUp >= MIN_GIVEN_UP && givenUp / (givenUp + succeeded) >= limit.part;
}
