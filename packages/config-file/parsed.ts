import type { ConfigIssue } from "@workqueue/core";
import type { Place } from "./places.ts";

/** Result of parsing a valid text. */
export interface Parsed {
  /**
   * Parsed value. For JSON, this is the text itself, because the core finds more mistakes in a text than in a parsed
   * value.
   */
  readonly document: unknown;
  /**
   * Returns the place of an issue: the place of a member's name, or of an element of a list. If this member or element
   * is missing, returns the place of the nearest enclosing member or element. Returns `undefined` if the place is
   * unknown.
   */
  locate(issue: ConfigIssue): Place | undefined;
}

/** Result of parsing an invalid text. */
export interface Unparsed {
  readonly problems: readonly ConfigIssue[];
}

/** Creates an issue for a problem with the text itself. The message of the issue includes the place. */
export function problemAt({ line, column }: Place, message: string): ConfigIssue {
  return { path: "", message: `${message} at line ${line}, column ${column}`, line, column };
}
