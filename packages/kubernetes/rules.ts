/** Rules that options must satisfy. */

import type { Rule } from "@workqueue/core/internal";

/** Rule for names. */
export const A_TEXT: Rule = [
  (value: unknown) => typeof value === "string" && value !== "",
  "must be a non-empty string",
];
