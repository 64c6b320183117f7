import { formatNumber, inspect, suggest } from "@workqueue/core/internal";
import { Refusal } from "../http/answers.ts";

/** Rule for a member of a request body: a check, and a description of the rule for use in error messages. */
type Rule = readonly [holds: (value: unknown) => boolean, words: string];

const MAX_TEXT = 10_000;
const MAX_CONCURRENCY = 100_000;
const MAX_PAUSE = 24 * 3_600_000;

const A_TEXT: Rule = [
  (value) => typeof value === "string" && value.length <= MAX_TEXT,
  `must be a string of at most ${formatNumber(MAX_TEXT)} characters`,
];

/** Rules for the members of request bodies, by name. */
const MEMBERS = {
  concurrency: [
    (value) => Number.isInteger(value) && (value as number) >= 1 && (value as number) <= MAX_CONCURRENCY,
    `must be an integer from 1 to ${formatNumber(MAX_CONCURRENCY)}`,
  ],
  rate: [
    (value) => value === "unlimited" || typeof value === "number" && value >= 0,
    'must be a non-negative number, or "unlimited"',
  ],
  burst: [(value) => Number.isSafeInteger(value) && (value as number) >= 0, "must be a non-negative integer"],
  duration: [
    (value) => typeof value === "number" && value >= 0 && value <= MAX_PAUSE,
    `must be a number of milliseconds from 0 to ${formatNumber(MAX_PAUSE)}`,
  ],
  key: A_TEXT,
  search: A_TEXT,
  shown: A_TEXT,
  apply: [(value) => typeof value === "boolean", "must be true or false"],
} as const satisfies Record<string, Rule>;

/** Members of a valid request body. */
export interface Body {
  readonly concurrency?: number;
  readonly rate?: number | "unlimited";
  readonly burst?: number;
  readonly duration?: number;
  readonly key?: string;
  readonly search?: string;
  readonly apply?: boolean;
  readonly shown?: string;
}

/**
 * Parses a request body. All members of the body must be in `known`. If `isOneNeeded` is true, at least one member is
 * required.
 *
 * @throws {Refusal} If the body is invalid.
 */
export function readBody(action: string, text: string, known: readonly (keyof Body)[], isOneNeeded = false): Body {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    throw new Refusal(400, `Cannot ${action}: the body is not valid JSON`);
  }
  if (typeof body !== "object" || body === null || Array.isArray(body)) {
    throw new Refusal(422, `Cannot ${action}: the body must be an object, got ${inspect(body)}`);
  }
  for (const [name, value] of Object.entries(body)) {
    if (!known.includes(name as keyof Body)) {
      throw new Refusal(
        422,
        `Cannot ${action}: the body has an unknown member ${inspect(name)}${suggest(name, known)}`,
      );
    }
    const [holds, words] = MEMBERS[name as keyof Body];
    if (!holds(value)) throw new Refusal(422, `Cannot ${action}: '${name}' ${words}, got ${inspect(value)}`);
  }
  if (isOneNeeded && Object.keys(body).length === 0) {
    throw new Refusal(
      422,
      `Cannot ${action}: the body must have ${known.map((name) => `'${name}'`).join(" or ")}`,
    );
  }
  return body;
}
