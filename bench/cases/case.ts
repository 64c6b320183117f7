/** Number of keys with which the cases are measured. */
export const KEYS = 100_000;

/** Prepares a case for some keys. Returns a function that does the work once. */
export type Case = (keys: readonly string[]) => () => unknown;

/** Cases by the title of their group and by name. The first case of a group is the baseline of the others. */
export type Groups = Readonly<Record<string, Readonly<Record<string, Case>>>>;
