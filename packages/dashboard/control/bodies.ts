import { formatNumber, inspect, type Rule, suggest, timeoutRule } from "@workqueue/core/internal";
import { Refusal } from "../http/answers.ts";

const MAX_TEXT = 10_000;
const MAX_CONCURRENCY = 100_000;
/**
 * Maximum rate, burst and limit of a throttle. Larger numbers are typing mistakes: no process starts as many attempts.
 */
const MAX_TOKENS = 1_000_000_000;

/** Returns the rule for a number within bounds, both inclusive. */
function between(min: number, max: number, isInteger: boolean, orElse?: string): Rule {
  const noun = isInteger ? "an integer" : "a number";
  return [
    (value: unknown) =>
      typeof value === "number" && value >= min && value <= max && (!isInteger || Number.isInteger(value)) ||
      orElse !== undefined && value === orElse,
    `must be ${noun} from ${min} to ${formatNumber(max)}${orElse === undefined ? "" : `, or ${inspect(orElse)}`}`,
  ];
}

const A_TEXT: Rule = [
  (value: unknown) => typeof value === "string" && value.length <= MAX_TEXT,
  `must be a string of at most ${formatNumber(MAX_TEXT)} characters`,
];

/** Rules for the members of request bodies, by name. */
const MEMBERS = {
  concurrency: between(1, MAX_CONCURRENCY, true),
  rate: between(0, MAX_TOKENS, false, "unlimited"),
  burst: between(0, MAX_TOKENS, true),
  limit: between(1, MAX_TOKENS, true),
  duration: timeoutRule(),
  key: A_TEXT,
  search: A_TEXT,
  failing: [(value: unknown) => value === true, "must be true"],
  error: A_TEXT,
  group: A_TEXT,
  preview: [(value: unknown) => typeof value === "boolean", "must be true or false"],
  shown: A_TEXT,
  apply: [(value: unknown) => typeof value === "boolean", "must be true or false"],
} as const satisfies Record<string, Rule>;

/** Members of a valid request body. */
export interface Body {
  readonly concurrency?: number;
  readonly rate?: number | "unlimited";
  readonly burst?: number;
  readonly limit?: number;
  readonly duration?: number | string;
  readonly key?: string;
  readonly search?: string;
  readonly failing?: true;
  readonly error?: string;
  readonly group?: string;
  readonly preview?: boolean;
  readonly apply?: boolean;
  readonly shown?: string;
}

/**
 * Parses a request body. At least one of the members in `needed` is required, unless `needed` is empty. The members in
 * `optional` are allowed too. `hint` is added to the error for an unknown member.
 *
 * @throws {Refusal} If the body is invalid.
 */
export function readBody(
  action: string,
  text: string,
  needed: readonly (keyof Body)[],
  optional: readonly (keyof Body)[] = [],
  hint = "",
): Body {
  const known = [...needed, ...optional];
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
        `Cannot ${action}: the body has an unknown member ${inspect(name)}${suggest(name, known) || hint}`,
      );
    }
    const [holds, words] = MEMBERS[name as keyof Body];
    if (!holds(value as never)) throw new Refusal(422, `Cannot ${action}: '${name}' ${words}, got ${inspect(value)}`);
  }
  if (needed.length > 0 && !needed.some((name) => Object.hasOwn(body, name))) {
    throw new Refusal(422, `Cannot ${action}: the body must have ${needed.map((name) => `'${name}'`).join(" or ")}`);
  }
  return body;
}
