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
