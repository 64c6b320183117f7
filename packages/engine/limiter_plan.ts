/**
 * Plans: limiters and buckets in the form in which an engine evaluates them.
 *
 * @module
 */

import {
  ConfigError,
  type ConfigIssue,
  type LimiterConfig,
  type LimiterDescription,
  type QueueDescription,
  type Random,
} from "@workqueue/core";
import { withCode } from "@workqueue/core/internal";
import type { AttemptBucket, EngineLimiter } from "./engine.ts";

/** Milliseconds, about 317 years, in place of infinity, which JSON doesn't have. */
const FOREVER = 1e13;

/** Limiter in the form in which an engine evaluates it. */
export interface LimiterPlan extends EngineLimiter {
  /** Plan as JSON. */
  readonly text: string;
  /**
   * Whether the plan needs the number of failures in advance, because this process computes some of the delays. If the
   * assumed number is wrong, the engine counts nothing and replies with the correct number.
   */
  readonly needsFailures: boolean;
  /** Whether failures of attempts that began before the retry was due are not counted. */
  readonly ignoresEarly: boolean;
  /**
   * Returns the plan's input for one failure, as JSON: random numbers, and delays of limiters that the engine can't
   * evaluate. Each failure needs its own input. Returns an empty string if the plan needs no input.
   *
   * @param failures The number of the item's earlier failures, as far as this process knows.
   * @throws {RangeError} If a random number is not from 0 to 1, or a delay is not finite.
   */
  given(failures: number): string;
}

/**
 * Creates the plan for a limiter.
 *
 * @param action The action, for error messages.
 * @param limiter The description of the limiter.
 * @param random A function that returns random numbers from 0 to 1.
 * @param partitions The number of the queue's partitions, which share the tokens of buckets.
 * @throws {ConfigError} If an engine can't evaluate the limiter. The error lists every reason with its path.
 */
export function planLimiter(
  action: string,
  limiter: LimiterDescription,
  random: Random = Math.random,
  partitions = 1,
): LimiterPlan {
  const planner = new Planner(action, limiter, random, partitions);
  const ignoresEarly = isBuiltIn(limiter) && limiter.type === "ignore-early";
  const tree = planner.plan(limiter, false);
  if (planner.issues.length > 0) throw new ConfigError(action, planner.issues);
  const { draws, passing, hasLasting, needsFailures } = planner;
  const counts = [tree, passing, passing > 0 && !hasLasting ? 1 : 0];
  const keepsDue = ignoresEarly ? [Math.min(limiter.options["forgetAfter"] as number, FOREVER)] : [];
  const text = JSON.stringify(passing === 0 && !ignoresEarly ? [tree] : [...counts, ...keepsDue]);
  const given = (failures: number) =>
    JSON.stringify([needsFailures ? failures : -1, ...draws.map((draw) => draw(failures))]);
  return { text, needsFailures, ignoresEarly, given: draws.length === 0 ? () => "" : given };
}

/** Token bucket as arguments for the Lua function `tokens_take(id, rate, burst, …)`. */
export type BucketPlan = readonly [id: string, rate: string, burst: string];

/** Creates the plan for a bucket from which each attempt takes a token. */
export function planBucket({ id, rate, burst }: AttemptBucket): BucketPlan {
  return [id, String(finite(rate)), String(burst)];
}

/**
 * Refuses buckets of limiters that several queues of a document share through `limiter` or `throttle`. Each queue has
 * its own buckets in an engine. Throttles are stored outside the queues.
 *
 * @throws {ConfigError} If queues share a bucket. The error lists every shared bucket.
 */
export function refuseSharedBuckets(action: string, queues: readonly QueueDescription[]): void {
  const users = new Map<string, string[]>();
  for (const queue of queues) {
    for (const path of bucketsOf(queue)) users.set(path, [...users.get(path) ?? [], queue.name]);
  }
  const issues = [...users].filter(([, names]) => names.length > 1).map(([path, names]) => ({
    path,
    message: `queues that processes share cannot share a bucket, because each has buckets of its own: ${
      names.map((name) => JSON.stringify(name)).join(", ")
    }`,
  }));
  if (issues.length > 0) throw new ConfigError(action, issues);
}

/**
 * Returns the paths of the buckets from which a queue takes tokens. Two queues have a path in common if they use the
 * same named limiter.
 */
function bucketsOf({ limiter, throttle }: QueueDescription): Set<string> {
  const buckets = partsOf(limiter).filter(({ type }) => type === "bucket").map(({ path }) => path);
  return new Set(throttle?.path.startsWith("/limiters/") ? [...buckets, throttle.path] : buckets);
}

/** Maximum number of limiters in a plan. Engines must be quick, and Redis limits the depth of JSON. */
const MAX_LIMITERS = 400;

type BuiltInType = Exclude<LimiterConfig, string>["type"];

/**
 * For each built-in limiter, the version that engines can evaluate. Omitting a built-in limiter of the core is a
 * type error.
 */
const VERSIONS: Readonly<Record<BuiltInType, number>> = {
  "bucket": 1,
  "exponential": 1,
  "fast-slow": 1,
  "ignore-early": 1,
  "jitter": 1,
  "max-of": 1,
  "max-wait": 1,
  "per-group": 1,
  "steps": 1,
};

/**
 * Property key under which a built-in limiter's `create` function stores the limiter's version. All copies of the core
 * use the same key.
 */
const BUILT_IN: unique symbol = /* @__PURE__ */ Symbol.for("workqueue.builtIn");

/** Limiter that engines can evaluate. */
type BuiltIn = LimiterDescription & { readonly type: BuiltInType };

/**
 * Reports whether engines can evaluate a limiter. A built-in limiter of a different version is treated as custom.
 */
function isBuiltIn(part: LimiterDescription): part is BuiltIn {
  const { [BUILT_IN]: version } = part.definition().create as { [BUILT_IN]?: number };
  return version !== undefined && version === VERSIONS[part.type as BuiltInType];
}

/** Options in the description of a built-in limiter. */
interface Options {
  readonly limiter: LimiterDescription;
  readonly limiters: readonly LimiterDescription[];
  readonly [option: string]: unknown;
}

/**
 * Returns a limiter and all limiters nested in it. A limiter that is nested in several places is listed once for each
 * place. Stops once there are more than `MAX_LIMITERS` limiters.
 */
function partsOf(limiter: LimiterDescription): LimiterDescription[] {
  const parts = [limiter];
  for (const part of parts) { // `parts` grows during the loop
    if (parts.length > MAX_LIMITERS) break;
    if (!isBuiltIn(part)) continue;
    const { limiter, limiters = [] } = part.options as unknown as Partial<Options>;
    parts.push(...limiter === undefined ? limiters : [limiter]);
  }
  return parts;
}

/** Limiter in a plan: its type, and details that the script needs. */
type PlanNode = readonly [type: string, ...details: unknown[]];

/**
 * Failure count of a limiter:
 *
 * - `0`: the limiter counts each failure once;
 * - `[0, TIMES, NTH]`: the limiter occurs TIMES times in the plan, and this is occurrence number NTH;
 * - `[INDEX, FORGET_AFTER]`: the limiter has its own count, which expires.
 */
type Counting = 0 | readonly [number, number, number?];

class Planner {
  readonly issues: ConfigIssue[] = [];
  /** Functions that compute the input for a failure, in the order in which the limiters are asked. */
  readonly draws: ((failures: number) => number)[] = [];
  needsFailures = false;
  /** Whether any limiter keeps its count until `forget`. */
  hasLasting = false;
  readonly #root: LimiterDescription;
  readonly #random: Random;
  readonly #partitions: number;
  /** Number of times that each limiter is asked per failure. */
  readonly #times = new Map<string, number>();
  /** Number of times that each limiter has been added to the plan so far. */
  readonly #met = new Map<string, number>();
  /** Paths of the limiters whose counts expire, by index. */
  readonly #passing: string[] = [];

  constructor(action: string, root: LimiterDescription, random: Random, partitions: number) {
    this.#root = root;
    this.#partitions = partitions;
    this.#random = random;
    const parts = partsOf(root);
    if (parts.length > MAX_LIMITERS) {
      const message = `a limiter must not ask more than ${MAX_LIMITERS} others in a queue that processes share`;
      throw new ConfigError(action, [{ path: root.path, message }]);
    }
    for (const { path } of parts) this.#times.set(path, (this.#times.get(path) ?? 0) + 1);
  }

  /** Number of limiters whose counts expire. */
  get passing(): number {
    return this.#passing.length;
  }

  plan(part: LimiterDescription, isInGroup: boolean): PlanNode {
    return isInGroup && part.name !== undefined ? ["named", this.#plan(part, false)] : this.#plan(part, isInGroup);
  }

  #plan(part: LimiterDescription, isInGroup: boolean): PlanNode {
    if (!isBuiltIn(part)) return this.#planCustom(part);
    const { limiter, limiters, ...options } = part.options as unknown as Options;
    switch (part.type) { // no `default` case: omitting a built-in limiter is a type error
      case "bucket": {
        const { rate, burst } = options as { rate: number; burst: number };
        const share = Math.max(Math.floor(burst / this.#partitions), Math.min(burst, 1)); // a burst of 0 stays 0
        return ["bucket", this.#idOf(part), finite(rate / this.#partitions), share];
      }
      case "exponential":
        return [
          "exponential",
          this.#counting(part.path, options["forgetAfter"]),
          options["baseDelay"],
          options["maxDelay"],
        ];
      case "fast-slow": {
        const { fastDelay, slowDelay, maxFastAttempts, forgetAfter } = options;
        return ["fast-slow", this.#counting(part.path, forgetAfter), fastDelay, slowDelay, maxFastAttempts];
      }
      case "steps":
        return ["steps", this.#counting(part.path, options["forgetAfter"]), options["delays"]];
      case "ignore-early":
        if (part.path !== this.#root.path) {
          this.issues.push({
            path: part.path,
            message: '"ignore-early" must be around all other limiters in a queue that processes share',
          });
        }
        return this.plan(limiter, isInGroup);
      case "jitter":
        this.draws.push(() => requireRandom(this.#random()));
        return ["jitter", this.plan(limiter, isInGroup), options["spread"]];
      case "max-wait":
        return ["max-wait", this.plan(limiter, isInGroup), options["maxDelay"]];
      case "per-group":
        return ["per-group", (options["separator"] as string).toWellFormed(), this.plan(limiter, true)];
      case "max-of":
        return ["max-of", ...limiters.map((each) => this.plan(each, isInGroup))];
    }
  }

  #planCustom(part: LimiterDescription): PlanNode {
    const { type, path } = part;
    const counting = this.#counting(path, undefined);
    const [, times = 1, nth = 1] = counting === 0 ? [] : counting;
    try {
      const limiter = part.create();
      if (typeof limiter.delayAfter !== "function") {
        const message = `${
          JSON.stringify(type)
        } must have 'delayAfter' in a queue that processes share, because the engine counts the failures`;
        this.issues.push({ path, message });
      }
      this.draws.push((failures) => requireDelay(type, limiter.delayAfter!(failures * times + nth)));
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      this.issues.push(...error.issues);
    }
    this.needsFailures = true;
    return ["given", counting];
  }

  #counting(path: string, forgetAfter: unknown): Counting {
    if (typeof forgetAfter === "number") {
      if (!this.#passing.includes(path)) this.#passing.push(path);
      return [this.#passing.indexOf(path) + 1, forgetAfter];
    }
    this.hasLasting = true;
    const times = this.#times.get(path)!;
    const nth = (this.#met.get(path) ?? 0) + 1;
    this.#met.set(path, nth);
    return times === 1 ? 0 : [0, times, nth];
  }

  /**
   * Returns the name of a bucket in the engine. A bucket inside an unnamed limiter is named after its path within that
   * limiter, so moving the limiter in a document or in code doesn't change the name. Any other bucket is named after
   * its path in the document.
   */
  #idOf({ path }: LimiterDescription): string {
    const { name, path: start } = this.#root;
    const isInside = name === undefined && (path === start || path.startsWith(`${start}/`));
    return (isInside ? `.${path.slice(start.length)}` : path).toWellFormed();
  }
}

/** Returns -1 for an infinite rate: JSON has no infinity, and no rate is negative. */
function finite(rate: number): number {
  return rate === Infinity ? -1 : rate;
}

function requireRandom(random: unknown): number {
  if (typeof random === "number" && random >= 0 && random <= 1) return random;
  const message = `Cannot spread delay: 'random()' must be a number from 0 to 1, got ${random}`;
  throw withCode("WQ_LIMITER", new RangeError(message));
}

function requireDelay(type: string, delay: unknown): number {
  if (Number.isFinite(delay)) return delay as number;
  const message = `Cannot compute delay of ${
    JSON.stringify(type)
  }: 'delayAfter()' must be a finite number, got ${delay}`;
  throw withCode("WQ_LIMITER", new RangeError(message));
}
