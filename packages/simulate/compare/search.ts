import { loadConfig } from "@workqueue/core";
import { argumentError, inspect } from "@workqueue/core/internal";
import type { LoadDocument } from "../load/load.ts";
import type { Condition } from "../report/condition.ts";
import { simulate, type SimulateOptions } from "../simulate.ts";

/** Result of a search. */
export interface Found {
  /** Path of the number in the config. */
  readonly path: string;
  /**
   * Smallest value with which no condition is true. If larger values are worse, so that a condition is true with the
   * largest value of the range and none with the smallest, the largest value with which no condition is true.
   * `undefined` if a condition is true with both.
   */
  readonly value: number | undefined;
  /** The result as a sentence. */
  readonly text: string;
}

const ACTION = "search";

/**
 * Searches for the smallest whole number in a config with which no condition is true. If larger numbers are worse,
 * searches for the largest such number. The search assumes that a larger number is always better or always worse, and
 * halves the range with each simulation.
 *
 * @example The smallest concurrency
 * ```ts
 * import { parseCondition, search } from "@workqueue/simulate";
 * import { assertEquals } from "@std/assert";
 *
 * const load = {
 *   duration: "10m",
 *   arrivals: [{ type: "poisson", rate: 15 }],
 *   work: { type: "exponential", mean: "100ms" },
 * };
 * const bound = parseCondition("p99 wait > 1s");
 * const { value } = await search({ queues: { images: {} } }, load, [bound], "queues.images.concurrency=1..16");
 * assertEquals(value, 2);
 * ```
 *
 * @param config The config: JSON text, or a parsed document.
 * @param load The load: JSON text, or a parsed document.
 * @param conditions The conditions, none of which may be true.
 * @param range The number in the config, and its range, such as `queues.images.concurrency=1..64`.
 * @param options All are optional.
 * @returns The number.
 * @throws {TypeError} If `range` has another form, or the config has no object at its path.
 * @throws As {@linkcode simulate} does.
 */
export async function search(
  config: string | object,
  load: string | LoadDocument,
  conditions: readonly Condition[],
  range: string,
  options: SimulateOptions = {},
): Promise<Found> {
  const [, path, from, to] = /^([^=]+)=(\d+)\.\.(\d+)$/.exec(range) ?? [];
  if (path === undefined || Number(from) > Number(to)) {
    throw argumentError(
      ACTION,
      `${inspect(range)} must be a path and a range, such as "queues.images.concurrency=1..64"`,
    );
  }
  const { limiters, disciplines, throttles } = options;
  loadConfig(config, { limiters, disciplines, throttles }); // reports a config that isn't valid
  const document: object = typeof config === "string" ? JSON.parse(config) : config;
  const holds = async (value: number) => {
    const report = await simulate(withNumber(document, path, value), load, options);
    return conditions.every((condition) => !condition.holds(report));
  };
  const [first, last] = [Number(from), Number(to)];
  const bounds = conditions.map(({ text }) => text).join(" or ");
  if (await holds(last)) {
    const value = await firstFor(holds, first, last);
    const before = value > first ? ` With ${value - 1}, ${bounds}.` : "";
    return { path, value, text: `${path} must be at least ${value}.${before}` };
  }
  if (first === last || !await holds(first)) {
    const numbers = first === last ? first : `${first} and with ${last}`;
    return { path, value: undefined, text: `With ${path} = ${numbers}, ${bounds}.` };
  }
  const value = await firstFor(async (value) => !await holds(value), first, last) - 1;
  return { path, value, text: `${path} must be at most ${value}. With ${value + 1}, ${bounds}.` };
}

/** Returns the first whole number of a range that meets a test. The last one must meet it. */
async function firstFor(test: (value: number) => Promise<boolean>, first: number, last: number): Promise<number> {
  while (first < last) {
    const middle = Math.floor((first + last) / 2);
    if (await test(middle)) last = middle;
    else first = middle + 1;
  }
  return last;
}

/** Returns a copy of a config with another number at a path. */
function withNumber(config: object, path: string, value: number): object {
  const copy = structuredClone(config) as Record<string, unknown>;
  const names = path.split(".");
  let inner: Record<string, unknown> = copy;
  for (const name of names.slice(0, -1)) {
    const next = Object.hasOwn(inner, name) ? inner[name] : undefined;
    if (typeof next !== "object" || next === null) {
      throw argumentError(ACTION, `the config has no object at ${inspect(path)}: ${inspect(name)} is missing`);
    }
    inner = next as Record<string, unknown>;
  }
  inner[names.at(-1)!] = value;
  return copy;
}
