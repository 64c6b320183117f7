/**
 * What the server has to know of limiters and buckets to compute them: see `scripts/limiters.ts`.
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

/** A limiter, as the server computes it. */
export interface LimiterPlan {
  /** The plan, as JSON. */
  readonly text: string;
  /**
   * Whether the limiter needs the number of failures beforehand, as it asks limiters whose delays this process
   * computes. The server counts nothing and gives the number if it was another one than assumed.
   */
  readonly needsFailures: boolean;
  /**
   * What this process gives to one call of the limiter, as JSON: random numbers, and the delays of limiters that the
   * server does not know. It is drawn anew each time, as each failure has its own. Empty if the plan needs nothing.
   *
   * @param failures How often the item has failed, as far as is known, without this failure.
   * @throws {RangeError} If a random number is not from 0 to 1, or a delay not finite.
   */
  given(failures: number): string;
}

/**
 * Plans a limiter.
 *
 * @param action What is being done, for messages.
 * @param limiter The limiter, as a config describes it.
 * @param random Where random numbers from 0 to 1 come from.
 * @throws {ConfigError} If the limiter cannot be computed on a server; with every reason and its place.
 */
export function planLimiter(action: string, limiter: LimiterDescription, random: Random = Math.random): LimiterPlan {
  const planner = new Planner(action, limiter, random);
  const tree = planner.plan(limiter, false);
  if (planner.issues.length > 0) throw new ConfigError(action, planner.issues);
  const { draws, passing, hasLasting, needsFailures } = planner;
  const text = JSON.stringify(passing === 0 ? [tree] : [tree, passing, hasLasting ? 0 : 1]);
  const given = (failures: number) =>
    JSON.stringify([needsFailures ? failures : -1, ...draws.map((draw) => draw(failures))]);
  return { text, needsFailures, given: draws.length === 0 ? () => "" : given };
}

/** A token bucket, as the arguments of a script have it: `tokens_take(id, rate, burst, …)`. */
export type BucketPlan = readonly [id: string, rate: string, burst: string];

/** Plans the bucket without whose tokens no attempt begins. With a name it is that of the limiter of this name. */
export function planThrottle({ path, name, rate, burst }: NonNullable<QueueDescription["throttle"]>): BucketPlan {
  return [name === undefined ? "throttle" : path.toWellFormed(), String(finite(rate)), String(burst)];
}

/**
 * Refuses buckets that several queues of a document share, by their `limiter` or their `throttle`: each queue has keys
 * of its own, and no script may use those of two.
 *
 * @throws {ConfigError} If there is one; with all of them.
 */
export function refuseSharedBuckets(action: string, queues: readonly QueueDescription[]): void {
  const users = new Map<string, string[]>();
  for (const queue of queues) {
    for (const path of bucketsOf(queue)) users.set(path, [...users.get(path) ?? [], queue.name]);
  }
  const issues = [...users].filter(([, names]) => names.length > 1).map(([path, names]) => ({
    path,
    message: `queues cannot share a bucket on Redis, where each has keys of its own: ${
      names.map((name) => JSON.stringify(name)).join(", ")
    }`,
  }));
  if (issues.length > 0) throw new ConfigError(action, issues);
}

/**
 * The paths of the buckets that a queue takes tokens from: those of two queues are the same if a limiter has a name.
 */
function bucketsOf({ limiter, throttle }: QueueDescription): Set<string> {
  const buckets = partsOf(limiter).filter(({ type }) => type === "bucket").map(({ path }) => path);
  return new Set(throttle === undefined ? buckets : [...buckets, throttle.path]);
}

/** How many limiters one may ask in all: scripts have to be short, and JSON is read so deep only. */
const MAX_LIMITERS = 400;

type BuiltInType = Exclude<LimiterConfig, string>["type"];

/**
 * The version of each built-in limiter that the server computes. One that the core has and this does not is a type
 * error.
 */
const VERSIONS: Readonly<Record<BuiltInType, number>> = {
  "bucket": 1,
  "exponential": 1,
  "fast-slow": 1,
  "jitter": 1,
  "max-of": 1,
  "max-wait": 1,
  "per-group": 1,
};

/** Where `create` of a built-in limiter has its version, be it that of another copy of the core. */
const BUILT_IN: unique symbol = /* @__PURE__ */ Symbol.for("workqueue.builtIn");

/** A limiter that the server computes. */
type BuiltIn = LimiterDescription & { readonly type: BuiltInType };

/** Whether the type means what the server knows by it. A built-in limiter of another version is a custom one here. */
function isBuiltIn(part: LimiterDescription): part is BuiltIn {
  const { [BUILT_IN]: version } = part.definition().create as { [BUILT_IN]?: number };
  return version !== undefined && version === VERSIONS[part.type as BuiltInType];
}

/** The options of built-in limiters, as they are described. */
interface Options {
  readonly limiter: LimiterDescription;
  readonly limiters: readonly LimiterDescription[];
  readonly [option: string]: unknown;
}

/** A limiter and those that it asks, as often as it asks them; stops after more than are allowed. */
function partsOf(limiter: LimiterDescription): LimiterDescription[] {
  const parts = [limiter];
  for (const part of parts) { // grows while it is walked
    if (parts.length > MAX_LIMITERS) break;
    if (!isBuiltIn(part)) continue;
    const { limiter, limiters = [] } = part.options as unknown as Partial<Options>;
    parts.push(...limiter === undefined ? limiters : [limiter]);
  }
  return parts;
}

/** A limiter in a plan: its type, and what the script has to know of it. */
type PlanNode = readonly [type: string, ...details: unknown[]];

/**
 * How a limiter counts: 0, with each failure; `[0, TIMES, NTH]`, where it is asked so many times with each failure, and
 * this is the nth time; `[INDEX, FORGET AFTER]`, with a count of its own, which passes.
 */
type Counting = 0 | readonly [number, number, number?];

class Planner {
  readonly issues: ConfigIssue[] = [];
  /** What is drawn for each call, in the order in which the limiters are asked. */
  readonly draws: ((failures: number) => number)[] = [];
  needsFailures = false;
  /** Whether a limiter counts until it is told to forget. */
  hasLasting = false;
  readonly #root: LimiterDescription;
  readonly #random: Random;
  /** How often each limiter is asked with each failure, and how often it was met so far. */
  readonly #times = new Map<string, number>();
  readonly #met = new Map<string, number>();
  /** The limiters whose counts pass, by index. */
  readonly #passing: string[] = [];

  constructor(action: string, root: LimiterDescription, random: Random) {
    this.#root = root;
    this.#random = random;
    const parts = partsOf(root);
    if (parts.length > MAX_LIMITERS) {
      const message = `a limiter must not ask more than ${MAX_LIMITERS} others on Redis`;
      throw new ConfigError(action, [{ path: root.path, message }]);
    }
    for (const { path } of parts) this.#times.set(path, (this.#times.get(path) ?? 0) + 1);
  }

  /** How many limiters have counts that pass. */
  get passing(): number {
    return this.#passing.length;
  }

  plan(part: LimiterDescription, isInGroup: boolean): PlanNode {
    return isInGroup && part.name !== undefined ? ["named", this.#plan(part, false)] : this.#plan(part, isInGroup);
  }

  #plan(part: LimiterDescription, isInGroup: boolean): PlanNode {
    if (!isBuiltIn(part)) return this.#planCustom(part);
    const { limiter, limiters, ...options } = part.options as unknown as Options;
    switch (part.type) { // has no default: a built-in limiter without a plan does not compile
      case "bucket":
        return ["bucket", this.#idOf(part), finite(options["rate"] as number), options["burst"]];
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
        } must have 'delayAfter' on Redis, as the server counts the failures there`;
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
   * The name of a bucket on the server. It does not depend on where the queue's limiter stands, in a document or in
   * code, but for what has a name.
   */
  #idOf({ path }: LimiterDescription): string {
    const { name, path: start } = this.#root;
    const isInside = name === undefined && (path === start || path.startsWith(`${start}/`));
    return (isInside ? `.${path.slice(start.length)}` : path).toWellFormed();
  }
}

/** JSON has no infinity; no rate is below zero. */
function finite(rate: number): number {
  return rate === Infinity ? -1 : rate;
}

function requireRandom(random: unknown): number {
  if (typeof random === "number" && random >= 0 && random <= 1) return random;
  const message = `Cannot spread delay as 'random()' must be a number from 0 to 1: received ${random}`;
  throw withCode("WQ_LIMITER", new RangeError(message));
}

function requireDelay(type: string, delay: unknown): number {
  if (Number.isFinite(delay)) return delay as number;
  const message = `Cannot tell delay of ${
    JSON.stringify(type)
  } as 'delayAfter()' must be a finite number: received ${delay}`;
  throw withCode("WQ_LIMITER", new RangeError(message));
}
