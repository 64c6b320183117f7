import type { ConfigIssue } from "@workqueue/core";
import type { Place } from "./places.ts";

/** Result of parsing a valid text. */
export interface Parsed {
  /** Parsed value. */
  readonly document: unknown;
  /**
   * Returns the location of an issue: the beginning of the member's name or of the list element. If this member or
   * element is missing, returns the location of the nearest enclosing member or element. Returns `undefined` if the
   * location is unknown.
   */
  locate(issue: ConfigIssue): Place | undefined;
}

/** Result of parsing an invalid text. */
export interface Unparsed {
  readonly problems: readonly ConfigIssue[];
}

/** Maximum nesting depth. Some parsers recurse several times per level. Real configs are nested far less deeply. */
export const MAX_DEPTH = 200;

/** Message for a text that is nested more deeply than `MAX_DEPTH`. */
export const TOO_DEEP = "it is nested too deeply";

/** Creates an issue for a problem with the text itself. The message of the issue includes the location. */
export function problemAt({ line, column }: Place, message: string): ConfigIssue {
  return { path: "", message: `${message} at line ${line}, column ${column}`, line, column };
}
