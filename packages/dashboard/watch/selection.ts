import type { KnownFailure } from "./failures.ts";
import { groupOf } from "./groups.ts";
import type { Source } from "./source.ts";

/** Selection of delayed items. An item is selected if it matches every given member. */
export interface Selection {
  /** Text of the item. */
  readonly key?: string | undefined;
  /** Part of the item's text or of its last error, ignoring case. */
  readonly search?: string | undefined;
  /** Whether the item's last attempt must have failed. */
  readonly failing?: true | undefined;
  /** Message of a group of errors, or part of the item's last error, ignoring case. */
  readonly error?: string | undefined;
  /** First part of the item's text. */
  readonly group?: string | undefined;
}

/** Returns a function that reports whether one of several texts contains the wanted text, ignoring case. */
export function containing(wanted: string): (...texts: string[]) => boolean {
  const lower = wanted.toLowerCase();
  return (...texts) => texts.some((text) => text.toLowerCase().includes(lower));
}

/**
 * Returns a function that reports whether an item matches every member of the selection. `separator` ends the first
 * part of an item's text.
 */
export function matcherOf(
  { key, search, failing, error, group }: Selection,
  source: Source,
  textOf: (item: unknown) => string,
  separator: string | undefined,
): (item: unknown) => boolean {
  const tests: ((item: unknown) => boolean)[] = [];
  if (failing) tests.push((item) => source.isFailing(item));
  if (error !== undefined) {
    const hasError = errorMatcher(error, source);
    tests.push((item) => hasError(source.failureOf(item)));
  }
  if (key !== undefined) tests.push((item) => textOf(item) === key);
  if (search !== undefined && search !== "") {
    const hasText = containing(search);
    const isKnownBy = (failure: KnownFailure | undefined) =>
      failure !== undefined && hasText(failure.error, failure.group.message ?? "");
    tests.push((item) => hasText(textOf(item)) || isKnownBy(source.failureOf(item)));
  }
  if (group !== undefined) tests.push((item) => groupOf(textOf(item), separator) === group);
  return (item) => tests.every((test) => test(item));
}

/** Returns a function that finds errors: those of the group with this message, or those that contain this text. */
function errorMatcher(text: string, { failures }: Source): (failure: KnownFailure | undefined) => boolean {
  if (failures.hasGroup(text)) return (failure) => failure?.group.message === text;
  const hasText = containing(text);
  return (failure) => failure !== undefined && hasText(failure.error);
}
