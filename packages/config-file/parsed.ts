import type { ConfigIssue } from "@workqueue/core";
import type { Place } from "./places.ts";

/** What a text says that is of its format. */
export interface Parsed {
  /** What it says; JSON as it is, as the core finds more that is wrong with it. */
  readonly document: unknown;
  /**
   * Where the thing stands that something is wrong with: the name of a member, or an element of a list. If it is
   * missing, the nearest thing around it. `undefined` where the parser does not tell.
   */
  locate(issue: ConfigIssue): Place | undefined;
}

/** What is wrong with a text that is not of its format. */
export interface Unparsed {
  readonly problems: readonly ConfigIssue[];
}

/** A problem with a text as such. Its message says the place too. */
export function problemAt({ line, column }: Place, message: string): ConfigIssue {
  return { path: "", message: `${message} at line ${line}, column ${column}`, line, column };
}
