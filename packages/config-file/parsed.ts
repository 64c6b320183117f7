import type { ConfigIssue } from "@workqueue/core";
import type { Place } from "./places.ts";

/** Result of parsing a valid text. */
export interface Parsed {
  /** Parsed value. For JSON, the text itself, because the core finds more mistakes in it. */
  readonly document: unknown;
  /**
   * Returns the place of an issue: the name of a member, or an element of a list. If it is missing, returns the place
   * of the nearest member or element around it. Returns `undefined` if the parser doesn't report places.
   */
  locate(issue: ConfigIssue): Place | undefined;
}

/** Result of parsing an invalid text. */
export interface Unparsed {
  readonly problems: readonly ConfigIssue[];
}

/** Creates a problem of the text itself. Its message also contains the place. */
export function problemAt({ line, column }: Place, message: string): ConfigIssue {
  return { path: "", message: `${message} at line ${line}, column ${column}`, line, column };
}
