/**
 * Replay of recorded operations on the limiters of an engine, at their original speed, and on its token buckets, in
 * slow motion.
 *
 * @module
 */

import { limiters } from "@workqueue/core";
import type { EngineLimiter, FailedItem } from "../../../packages/engine/engine.ts";
import { planLimiter } from "../../../packages/engine/limiter_plan.ts";
import { START } from "../../contracts/engine_bench.ts";
import type { Step } from "../../contracts/limiter_steps.ts";
import { LONGEST_DELAY } from "../limiter_families.ts";
import type { Trace } from "../trace.ts";
import { configOf } from "./limiter_config.ts";
import type { Place } from "./store.ts";

/** One microsecond, in milliseconds. */
const MICROSECOND = 0.001;

function failed(key: string): FailedItem {
  return { key, item: key, isReadable: true, minDelay: 0 };
}

/** Limiter steps with their recorded results. All steps run in order, in one call to the store. */
class Steps {
  readonly #steps: Step[] = [];
  readonly #checks: ((answer: (number | undefined)[]) => void)[] = [];
  readonly #failures = new Map<string, number>();
  /** Time of the trace, in nanoseconds. */
  now = 0;

  constructor(readonly trace: Trace, readonly place: Place) {}

  /** Time of the store, in whole microseconds. */
  get time(): number {
    return START + Math.floor(this.now / 1000);
  }

  add(step: Step, check: (answer: (number | undefined)[]) => void = () => {}): void {
    this.#steps.push(step);
    this.#checks.push(check);
  }

  /** Returns how often a key has failed since its failures were last forgotten. */
  failuresOf(key: string): number {
    return this.#failures.get(key) ?? 0;
  }

  fail(plan: EngineLimiter, key: string, check: (delay: number) => void = () => {}): void {
    const given = plan.given(this.failuresOf(key), failed(key));
    this.#failures.set(key, this.failuresOf(key) + 1);
    this.add(["when", this.time, plan.rules, key, given], ([delay]) => check(delay!));
  }

  forget(key: string): void {
    this.#failures.delete(key);
    this.add(["forget", this.time, key]);
  }

  async run(): Promise<void> {
    await using runner = await this.place.store.openLimiters(this.place.name);
    const answers = await runner.run(...this.#steps);
    for (const [i, answer] of answers.entries()) this.#checks[i]!(answer);
  }

  /**
   * Compares a delay with the recorded delay. The store's time and the trace's time differ by less than a microsecond.
   */
  delay(received: number, recorded: number): void {
    if (recorded >= 2 ** 62) {
      this.trace.equal("delay", received, LONGEST_DELAY);
      if (recorded !== 2 ** 63) this.trace.except("never");
      return;
    }
    const difference = Math.abs(received - recorded / 1e6);
    const exact = Math.max(0.5e-6, recorded / 1e6 * 2 ** -51);
    if (difference <= exact) return;
    if (!(difference <= MICROSECOND + exact)) this.trace.fail("delay in ns", received * 1e6, recorded);
    this.trace.except("sub-microsecond");
  }
}

/** Replays a trace of a single limiter. */
export async function replayLimiter(trace: Trace, place: Place): Promise<void> {
  const plan = planLimiter("replay limiter", limiters.describe(configOf(trace.limiter())));
  const steps = new Steps(trace, place);
  for (let operation = trace.operation(); operation !== undefined; operation = trace.operation()) {
    const [argument, operations] = [trace.next(), trace.operations];
    switch (operation) {
      case "when": {
        const recorded = trace.next();
        steps.fail(plan, `${argument}`, (delay) => steps.delay(delay, recorded));
        break;
      }
      case "forget":
        steps.forget(`${argument}`);
        break;
      case "numRequeues": {
        const recorded = trace.next();
        steps.add(
          ["requeues", steps.time, plan.rules, `${argument}`],
          ([count]) => trace.equal(`requeues at operation ${operations - 1}`, count, recorded),
        );
        break;
      }
      case "wait":
        steps.now += argument;
        break;
      default:
        throw new Error(`Cannot replay ${operation}`);
    }
  }
  await steps.run();
}

/** Replays exponential backoff in cases where Go's arithmetic overflows. */
export async function replayBackoffOverflow(trace: Trace, place: Place): Promise<void> {
  const spec = trace.limiter();
  const [, base, max] = spec as [string, number, number];
  const plan = planLimiter("replay limiter", limiters.describe(configOf(spec)));
  const steps = new Steps(trace, place);
  for (let operation = trace.operation(); operation !== undefined; operation = trace.operation()) {
    const item = trace.next();
    if (operation === "forget") {
      steps.forget(`${item}`);
      continue;
    }
    const times = trace.next();
    for (let i = 1; i < times; i++) steps.fail(plan, `${item}`);
    const before = steps.failuresOf(`${item}`);
    const recorded = trace.next();
    steps.fail(plan, `${item}`, (delay) => {
      const overflows = base === 0 ? before >= 1024 : base * 2 ** before === 2 ** 63;
      if (!overflows) return steps.delay(delay, recorded);
      trace.equal("delay in ns", delay * 1e6, base === 0 ? 0 : max);
      if (recorded !== delay * 1e6) trace.except("backoff-overflow");
    });
  }
  await steps.run();
}

/**
 * Slowness of token bucket traces: one nanosecond of the trace is one microsecond of the store. Such slow motion is
 * needed because the traces ask for tokens one nanosecond before and after a token arrives.
 */
const BUCKET_SLOWNESS = 1000;

/**
 * Replays those operations of token buckets that queues use: limiters reserve tokens, and `throttle` takes available
 * tokens. Each call includes the rate and burst of the bucket. The replay of a trace ends at a change to the rate or
 * burst, a canceled reservation, or a request for zero tokens, because queues do none of these. It also ends where time
 * goes back: in client-go, the bucket then gets the same tokens twice, but an engine's time never goes back.
 */
export async function replayTokenBucket(trace: Trace, { store, name }: Place): Promise<void> {
  const [rate, burst] = [trace.next(), trace.next()];
  const config = configOf(["bucket", rate, burst], BUCKET_SLOWNESS);
  const plan = planLimiter("replay bucket", limiters.describe(config));
  const given = plan.given(0, failed("item"));
  const [, [, id, slowRate]] = JSON.parse(given) as [number, [string, string, number]];
  const bucket = [id, `${slowRate}`, `${burst}`] as const;
  await using runner = await store.openLimiters(name);
  const one = async (...step: Step) => (await runner.run(step))[0]![0];
  let now = START;
  /** Time of the latest operation that was replayed. */
  let latest = now;
  for (let operation = trace.operation(); operation !== undefined; operation = trace.operation()) {
    now += trace.next();
    if (operation === "tokens") {
      trace.next(); // changes nothing
      continue;
    }
    const n = trace.next();
    if (operation === "delay") {
      trace.next(); // a reservation's remaining delay has no counterpart here
      continue;
    }
    if (now < latest) return trace.except("time-goes-back");
    latest = now;
    if (operation === "allow" && n > 0) {
      const taken = await one("take", now, ...bucket, n);
      trace.same("allowed", taken === n);
      if (taken! < n) await one("give back", now, ...bucket, taken!);
    } else if (operation === "reserve" && n > 0) {
      const isGranted = rate === Number.MAX_VALUE || n <= burst;
      trace.same("ok", isGranted);
      const recorded = trace.next();
      if (!isGranted && n > 1) continue; // limiters reserve one token at a time
      let delay = 0;
      for (let i = 0; i < n; i++) delay = (await one("when", now, plan.rules, "item", given))!;
      compareSlowly(trace, delay, recorded);
    } else {
      trace.except("no-counterpart");
      return;
    }
  }
}

/** Compares a slow-motion delay in milliseconds with the recorded delay in nanoseconds. */
function compareSlowly(trace: Trace, delay: number, recorded: number): void {
  const isNever = recorded >= 2 ** 62;
  if (isNever && recorded !== 2 ** 63) trace.except("never");
  const expected = isNever ? LONGEST_DELAY : recorded * BUCKET_SLOWNESS / 1e6;
  const difference = Math.abs(Math.min(delay, LONGEST_DELAY) - expected);
  // Stretched rates round differently, so the result may differ by one nanosecond of the trace.
  if (!(difference <= Math.max(1.5 * MICROSECOND, expected * 2 ** -50))) {
    trace.fail("delay in ns", delay * 1e6, recorded);
  }
}
