/**
 * Plans: limiters and buckets in the form in which an engine uses them. Each limiter gives the same delays as in
 * memory, because the process asks the limiter itself. Only buckets are in the engine, which all processes share.
 *
 * @module
 */

import {
  type BuiltInOptions,
  ConfigError,
  type ConfigIssue,
  type LimiterDescription,
  NOT_COUNTED,
  type QueueDescription,
  type Random,
  type RateLimiter,
  systemClock,
} from "@workqueue/core";
import { withCode } from "@workqueue/core/internal";
import type { Delay, DelayNode, FailureInput, FailureRules } from "./delay_nodes.ts";
import type { AttemptBucket, EngineLimiter, FailedItem } from "./engine.ts";
import { type DescribedOptions, refuseOthers } from "./planned_part.ts";

/** Milliseconds, about 317 years, in place of infinity, which JSON doesn't have. */
const FOREVER = 1e13;

/** Delays in place of those of custom limiters for items that this process can't read: doubled with each failure. */
const UNREADABLE = { baseDelay: 5, maxDelay: 1_000_000 };

/** Settings of a plan. */
export interface PlanSettings {
  /** Function that returns random numbers from 0 to 1. Default: `Math.random`. */
  readonly random?: Random | undefined;
  /** Number of the queue's partitions, which share the tokens of buckets. Default: 1. */
  readonly partitions?: number | undefined;
  /** Option `forgetAfter` of the queue, in milliseconds. Default: never. */
  readonly forgetAfter?: number | undefined;
}

/**
 * Creates the plan for a limiter.
 *
 * @param action The action, for error messages.
 * @param limiter The description of the limiter.
 * @throws {ConfigError} If an engine can't use the limiter. The error lists every reason with its path.
 */
export function planLimiter(
  action: string,
  limiter: LimiterDescription,
  { random = Math.random, partitions = 1, forgetAfter }: PlanSettings = {},
): EngineLimiter {
  const planner = new Planner(action, limiter, random, partitions);
  const ask = planner.plan(limiter, false);
  if (planner.issues.length > 0) throw new ConfigError(action, planner.issues);
  const { counts, needsStart } = planner;
  const ignoresEarly = isBuiltIn(limiter) && limiter.type === "ignore-early"; // then, due times must be remembered
  const rules: FailureRules = {
    ...ignoresEarly && { ignoresEarly },
    ...forgetAfter !== undefined && { forgetAfter: Math.min(forgetAfter, FOREVER) },
    ...!counts && !ignoresEarly && { counts },
  };
  return {
    rules: JSON.stringify(rules),
    needsStart,
    given(failures, failed) {
      return JSON.stringify([counts ? failures : -1, ask({ ...failed, failures, groups: "" })] satisfies FailureInput);
    },
  };
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

type BuiltInType = keyof BuiltInOptions;

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
  return version !== undefined && version === PLANS[part.type as BuiltInType]?.version;
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

/** Failure for which a limiter is asked. */
interface Asked extends FailedItem {
  /** Number of earlier failures. */
  readonly failures: number;
  /** End of the names of buckets, because each group has its own. */
  readonly groups: string;
}

/** Asks a limiter for the delay after a failure. */
type Ask = (asked: Asked) => Delay;

class Planner {
  readonly issues: ConfigIssue[] = [];
  /** Whether any delay depends on the number of failures. */
  counts = false;
  /** Whether any limiter may use the time at which the attempt began. */
  needsStart = false;
  readonly #root: LimiterDescription;
  readonly #random: Random;
  readonly #partitions: number;

  constructor(action: string, root: LimiterDescription, random: Random, partitions: number) {
    this.#root = root;
    this.#partitions = partitions;
    this.#random = random;
    if (partsOf(root).length > MAX_LIMITERS) {
      const message = `a limiter must not ask more than ${MAX_LIMITERS} others in a queue that processes share`;
      throw new ConfigError(action, [{ path: root.path, message }]);
    }
  }

  plan(part: LimiterDescription, isInGroup: boolean): Ask {
    if (!isInGroup || part.name === undefined) return this.#plan(part, isInGroup);
    const ask = this.#plan(part, false);
    return (asked) => ask({ ...asked, groups: "" }); // one limiter for all groups
  }

  #plan(part: LimiterDescription, isInGroup: boolean): Ask {
    const plan = isBuiltIn(part) ? PLANS[part.type]!.plan as Plan<never> : "by the process";
    return plan === "by the process" ? this.#leave(part) : plan(this, part, part.options as never, isInGroup);
  }

  /** Refuses options that a plan leaves out. An option of the core that no plan names is a type error. */
  refuseOthers(part: LimiterDescription, others: Readonly<Record<string, never>>): void {
    refuseOthers(part, others, this.issues);
  }

  /** Returns a random number from 0 to 1. */
  random(): number {
    return requireRandom(this.#random());
  }

  /** Number of tokens of a bucket that a partition gets. */
  shareOf({ rate, burst }: { rate: number; burst: number }): [rate: number, burst: number] {
    const share = Math.max(Math.floor(burst / this.#partitions), Math.min(burst, 1)); // a burst of 0 stays 0
    return [finite(rate / this.#partitions), share];
  }

  /** Requires that a limiter is around all others. */
  requireOutermost({ path, type }: LimiterDescription): void {
    if (path === this.#root.path) return;
    const message = `${JSON.stringify(type)} must be around all other limiters in a queue that processes share`;
    this.issues.push({ path, message });
  }

  /** Leaves the delays to the limiter itself. */
  #leave(part: LimiterDescription): Ask {
    const { type, path } = part;
    const isOwn = !isBuiltIn(part);
    if (isOwn) this.needsStart = true;
    let limiter: RateLimiter;
    try {
      limiter = part.create();
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      this.issues.push(...error.issues);
      return () => 0;
    }
    if (typeof limiter.next !== "function") {
      const message = `${
        JSON.stringify(type)
      } must have 'next' in a queue that processes share, because the engine counts the failures`;
      this.issues.push({ path, message });
    }
    if (limiter.countsFailures !== false) this.counts = true;
    return ({ failures, item, key, isReadable, startedAt = isOwn ? systemClock.now() : NaN, minDelay }) => {
      if (isOwn && !isReadable) return Math.min(UNREADABLE.baseDelay * 2 ** failures, UNREADABLE.maxDelay);
      return requireDelay(type, limiter.next!(failures + 1, item, key, { startedAt, dueAt: undefined, minDelay }));
    };
  }

  /**
   * Returns the name of a bucket in the engine. A bucket inside an unnamed limiter is named after its path within that
   * limiter, so moving the limiter in a document or in code doesn't change the name. Any other bucket is named after
   * its path in the document.
   */
  idOf({ path }: LimiterDescription): string {
    const { name, path: start } = this.#root;
    const isInside = name === undefined && (path === start || path.startsWith(`${start}/`));
    return (isInside ? `.${path.slice(start.length)}` : path).toWellFormed();
  }
}

/** Plans a limiter. Must name each option, and pass on the rest, which is empty. */
type Plan<Type extends BuiltInType> = (
  planner: Planner,
  part: LimiterDescription,
  options: DescribedOptions<BuiltInOptions[Type]>,
  isInGroup: boolean,
) => Ask;

/** Plan of a built-in limiter, and the version of the limiter that the plan is for. */
interface BuiltInPlan<Type extends BuiltInType> {
  readonly version: number;
  /** Plan of a limiter that may have a bucket, or `"by the process"` for a limiter that depends on nothing shared. */
  readonly plan: Plan<Type> | "by the process";
}

/** Plan of each built-in limiter. A limiter of the core without an entry is a type error. */
const PLANS: { readonly [Type in BuiltInType]: BuiltInPlan<Type> } = {
  "bucket": {
    version: 1,
    plan(planner, part, { rate, burst, ...others }) {
      planner.refuseOthers(part, others);
      const [id, share] = [planner.idOf(part), planner.shareOf({ rate, burst })];
      return ({ groups }) => ["bucket", id + groups, ...share];
    },
  },
  "exponential": { version: 1, plan: "by the process" },
  "fast-slow": { version: 1, plan: "by the process" },
  "ignore-early": {
    version: 1,
    plan(planner, part, { limiter, ...others }, isInGroup) { // `planLimiter` adds the rule
      planner.refuseOthers(part, others);
      planner.requireOutermost(part);
      return planner.plan(limiter, isInGroup);
    },
  },
  "jitter": {
    version: 1,
    plan(planner, part, { limiter, spread, ...others }, isInGroup) {
      planner.refuseOthers(part, others);
      const ask = planner.plan(limiter, isInGroup);
      return (asked) => {
        const factor = 1 - spread * planner.random(); // first, because it may throw
        const delay = ask(asked);
        return typeof delay === "number" ? delay * factor : ["times", delay, factor];
      };
    },
  },
  "max-of": {
    version: 1,
    plan(planner, part, { limiters, ...others }, isInGroup) {
      planner.refuseOthers(part, others);
      const asks = limiters.map((each) => planner.plan(each, isInGroup));
      return (asked) => {
        let longest = 0;
        const nodes: DelayNode[] = [];
        for (const ask of asks) {
          const delay = ask(asked);
          if (typeof delay === "number") longest = Math.max(longest, delay);
          else nodes.push(delay);
        }
        return nodes.length === 0 ? longest : ["longest", longest, ...nodes];
      };
    },
  },
  "max-wait": {
    version: 1,
    plan(planner, part, { limiter, maxDelay, ...others }, isInGroup) {
      planner.refuseOthers(part, others);
      const ask = planner.plan(limiter, isInGroup);
      return (asked) => {
        const delay = ask(asked);
        return typeof delay === "number" ? Math.min(delay, maxDelay) : ["at-most", delay, Math.min(maxDelay, FOREVER)];
      };
    },
  },
  "per-group": {
    version: 1,
    plan(planner, part, { limiter, separator, ...others }) {
      planner.refuseOthers(part, others);
      const [ask, end] = [planner.plan(limiter, true), separator.toWellFormed()]; // as in keys
      return (asked) => {
        const group = asked.key.split(end, 1)[0]!;
        return ask({ ...asked, groups: `${asked.groups}/${group.length}:${group}` });
      };
    },
  },
  "steps": { version: 1, plan: "by the process" },
};

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
  const action = `Cannot compute delay of ${JSON.stringify(type)}`;
  if (delay === NOT_COUNTED) {
    const message =
      `${action}: in a queue that processes share, 'next()' of a custom limiter can't return NOT_COUNTED, ` +
      `because the engine counts the failures`;
    throw withCode("WQ_LIMITER", new TypeError(message));
  }
  const message = `${action}: 'next()' must be a finite number, got ${String(delay)}`;
  throw withCode("WQ_LIMITER", new RangeError(message));
}
