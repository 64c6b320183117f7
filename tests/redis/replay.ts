/**
 * Replay of the recorded traces of client-go on the Redis engine. The replay uses a real server and sets its time.
 *
 * A queue's time on Redis grows with each read, to break ties. Ten operations at the same moment of a trace thus take
 * about twenty microseconds on the server. Queues are therefore replayed in slow motion: one nanosecond of the trace is
 * ten microseconds on the server. Delays and rates are stretched accordingly. In slow motion, the growth per operation
 * is less than one nanosecond of the trace. Single limiters are replayed at their original speed.
 *
 * @module
 */

import { type LimiterConfig, limiters } from "@workqueue/core";
import type { TurnRequest } from "@workqueue/engine";
import type { RedisEngine } from "../../packages/redis/engine.ts";
import { planLimiter } from "../../packages/redis/limiter_plan.ts";
import { LONGEST_DELAY } from "../conformance/limiter_families.ts";
import { replayBy, type ReplayTrace, type Report } from "../conformance/replay.ts";
import type { LimiterSpec, Trace } from "../conformance/trace.ts";
import { LimiterScript, type Step } from "./limiter_script.ts";
import { START, TimedServer } from "./timed_server.ts";

/** Microseconds on the server per nanosecond of a trace. */
const SLOWNESS = 10;
/** Number of traces replayed in parallel. The calls of these traces are sent together. */
const AT_A_TIME = 64;
/**
 * Latest deadline on the server, in microseconds since 1970. Later deadlines count as never, because larger numbers are
 * not exact.
 */
const FOREVER = 2 ** 53 - 1;

/** Connection and queue on which a trace is replayed. */
interface Place {
  readonly url: string;
  readonly server: TimedServer;
  /** Name of the queue. */
  readonly name: string;
}

const FAMILIES: Readonly<Record<string, (trace: Trace, place: Place) => Promise<void>>> = {
  "fifo": replayQueue,
  "delaying": replayQueue,
  "rate-limiting": replayRateLimiting,
  "equal-deadlines": (trace, place) => new EqualDeadlines(trace, place).run(),
  "drain-with-ready-items": replayQueue,
  "done-of-ready-item": (trace, place) => new DoneOfReadyItem(trace, place).run(),
  "limiters": replayLimiter,
  "backoff-overflow": replayBackoffOverflow,
  "token-bucket": replayTokenBucket,
};

/**
 * Families of traces that can be replayed on Redis. The other families test metrics and priorities, which don't exist
 * there.
 */
export const redisFamilies: readonly string[] = Object.keys(FAMILIES);

/** Replays all traces of a family, or only the chosen ones, on the server with this URL. */
export async function replayOnRedis(
  url: string,
  directory: URL,
  family: string,
  isChosen: (index: number) => boolean = () => true,
): Promise<Report> {
  await using server = await TimedServer.connect(url);
  const run = crypto.randomUUID();
  const replayTrace: ReplayTrace = async (trace) => {
    const place = { url, server, name: `${run}-${trace.index}` };
    try {
      await FAMILIES[family]!(trace, place);
    } finally {
      await server.clear(place.name);
    }
  };
  return await replayBy(replayTrace, directory, family, { atATime: AT_A_TIME, isChosen });
}

/** Error that ends the replay of a trace when the results on Redis can no longer be predicted. */
class EndOfTrace extends Error {}

/** Replay of recorded operations on a queue. */
class Replay {
  readonly engine: RedisEngine;
  /** Time of the trace, in nanoseconds. */
  now = 0;
  /** Processing items, with their tokens. */
  readonly processing = new Map<number, string>();
  /**
   * Deadlines of the delayed items, on the clock of the trace. The deadlines are in the order in which they were set.
   */
  readonly due = new Map<number, number>();
  /** Upper bound for how far the queue's time is ahead of the trace, in microseconds. */
  #ahead = 0;
  #lastToken = "1";
  #isShutDown = false;

  constructor(readonly trace: Trace, { server, name }: Place, limiter?: LimiterConfig) {
    const plan = limiter === undefined ? {} : { limiter: planLimiter("replay limiter", limiters.describe(limiter)) };
    this.engine = server.engine(name, () => START + this.now * SLOWNESS + (this.#ahead += 3), plan);
  }

  async run(): Promise<void> {
    try {
      for (let operation = this.trace.operation(); operation !== undefined; operation = this.trace.operation()) {
        await this.perform(operation);
        await this.compareState();
      }
    } catch (error) {
      if (!(error instanceof EndOfTrace)) throw error;
    }
  }

  async perform(operation: string): Promise<void> {
    switch (operation) {
      case "add":
        return await this.addAfter(this.trace.next(), 0);
      case "addAfter":
        return await this.addAfter(this.trace.next(), this.trace.next());
      case "addRateLimited":
        return await this.#addRateLimited(this.trace.next(), this.trace.next());
      case "get":
        return this.trace.same("item", await this.take() ?? -1);
      case "done":
        return await this.done(this.trace.next());
      case "forget": {
        const item = this.trace.next();
        if (!this.#refuses()) await this.engine.forget(`${item}`);
        return;
      }
      case "numRequeues": {
        const [item, recorded] = [this.trace.next(), this.trace.next()];
        if (!this.#refuses()) this.trace.equal("requeues", await this.engine.numRequeues(`${item}`), recorded);
        return;
      }
      case "wait":
        return this.wait(this.trace.next());
      case "shutDown":
      case "drain":
        return await this.#shutDown();
      default:
        throw new Error(`Cannot replay ${operation}`);
    }
  }

  async compareState(): Promise<void> {
    const { ready, delayed, processing } = await this.engine.counts();
    this.trace.same("length", ready);
    this.trace.equal("processing", processing, this.processing.size);
    this.trace.equal("delayed", delayed, this.due.size);
    this.trace.equal("whether it is open", Number(this.trace.next() === 0), Number(!this.#isShutDown));
  }

  async addAfter(item: number, delay: number): Promise<void> {
    if (this.#refuses()) return;
    await this.engine.add([{ key: `${item}`, payload: "" }], this.#slow(delay));
    this.noteDelay(item, delay);
  }

  /** Records that the item is due after this delay, unless it is already due sooner. */
  noteDelay(item: number, delay: number): void {
    if (delay <= 0) return;
    const due = this.now + delay;
    const current = this.due.get(item) ?? Infinity;
    if (due >= current) return;
    for (const [other, otherDue] of this.due) {
      if (other !== item && due !== otherDue && Math.abs(due - otherDue) <= this.#fuzz) this.#endTooClose();
    }
    this.due.delete(item);
    this.due.set(item, due);
  }

  async take(): Promise<number | undefined> {
    const { taken: [first] } = await this.turn({ wanted: 1 });
    if (first === undefined) return undefined;
    this.processing.set(Number(first.key), first.token);
    this.#lastToken = first.token;
    return Number(first.key);
  }

  /** Finishes an item. If the item is not processing, uses the last token, which is no longer valid. */
  async done(item: number): Promise<void> {
    const token = this.processing.get(item);
    const finish = { key: `${item}`, token: token ?? this.#lastToken, kind: "done" } as const;
    const { answers } = await this.turn({ finishes: [finish] });
    this.trace.equal("whether the end counts", Number(answers[0]), Number(this.processing.delete(item)));
  }

  async turn(request: Partial<TurnRequest>) {
    const common = {
      process: "process",
      owner: "owner",
      known: 0,
      wanted: 0,
      throttle: undefined,
    };
    return await this.engine.turn({ ...common, finishes: [], ...request });
  }

  wait(ns: number): void {
    this.now += ns;
    this.#ahead += this.due.size; // each item that becomes due gets a different time
    for (const [item, due] of this.due) {
      if (due <= this.now) this.due.delete(item);
      else if (due <= this.now + this.#fuzz) this.#endTooClose();
    }
  }

  async #addRateLimited(item: number, recorded: number): Promise<void> {
    if (this.#refuses()) return;
    const key = `${item}`;
    await this.engine.addRateLimited({ key, payload: "" }, true, "", 0);
    this.noteDelay(item, recorded);
    const { delayedEntries } = await this.engine.snapshot(100);
    const dueInMs = delayedEntries.find((entry) => entry.key === key)?.dueInMs;
    const due = this.due.get(item);
    if (due === undefined) return this.trace.equal("when it is due", dueInMs, undefined as never);
    const expected = Math.min((due - this.now) * SLOWNESS, FOREVER - START - this.now * SLOWNESS);
    const difference = Math.abs((dueInMs ?? NaN) * 1000 - expected);
    // Long times in milliseconds are less precise, because they are stored as doubles.
    if (!(difference <= this.#ahead + SLOWNESS + expected * 2 ** -50)) {
      this.trace.fail("when it is due, in ns", dueInMs! * 1e3 / SLOWNESS, expected / SLOWNESS);
    }
  }

  /**
   * Reports whether the queue was shut down. If so, counts an allowed difference: after a shutdown, client-go ignores
   * adds, while the queue object rejects them. The engine itself can't be shut down.
   */
  #refuses(): boolean {
    if (this.#isShutDown) this.trace.except("calls-after-shutdown");
    return this.#isShutDown;
  }

  /**
   * Shuts the queue down. In client-go, a shutdown drops delayed items. On Redis, delayed items stay delayed, so the
   * replay cancels them in order to compare the other items. After its shutdown, a queue object hands out no more
   * items, so the replay takes the remaining items as another process would.
   */
  async #shutDown(): Promise<void> {
    this.#isShutDown = true;
    for (const item of this.due.keys()) {
      this.trace.equal("whether it is delayed", Number(await this.engine.cancelDelayed(`${item}`)), 1);
      this.trace.except("delayed-survives-shutdown");
    }
    this.due.clear();
  }

  /** Largest difference, in nanoseconds of the trace, between two times whose order may be reversed on the server. */
  get #fuzz(): number {
    return this.#ahead / SLOWNESS + 1;
  }

  #endTooClose(): never {
    this.trace.except("too-close-to-call");
    throw new EndOfTrace();
  }

  /** Converts a duration in the trace, in nanoseconds, to the duration on the server, in milliseconds. */
  #slow(ns: number): number {
    return ns * SLOWNESS / 1000;
  }
}

function replayQueue(trace: Trace, place: Place): Promise<void> {
  return new Replay(trace, place).run();
}

function replayRateLimiting(trace: Trace, place: Place): Promise<void> {
  return new Replay(trace, place, configOf(trace.limiter(), SLOWNESS * 1000)).run();
}

/**
 * Replay of traces with equal deadlines. On Redis, items due at the same time are handed out in the order in which
 * their deadlines were set. client-go hands them out in any order.
 */
class EqualDeadlines extends Replay {
  #ready: { item: number; due: number }[] = [];

  override async perform(operation: string): Promise<void> {
    return operation === "takeAll" ? await this.#takeAll() : await super.perform(operation);
  }

  override wait(ns: number): void {
    const waiting = [...this.due].map(([item, due]) => ({ item, due }));
    super.wait(ns);
    const due = waiting.filter(({ item }) => !this.due.has(item)).toSorted((a, b) => a.due - b.due);
    this.#ready.push(...due.filter(({ item }) => !this.#ready.some((each) => each.item === item)));
  }

  async #takeAll(): Promise<void> {
    const promised = this.#ready;
    this.#ready = [];
    const recorded = Array.from({ length: this.trace.next() }, () => this.trace.next());
    for (const { item } of promised) {
      this.trace.equal("item in the order of the deadlines", await this.take(), item);
      await this.done(item);
    }
    this.trace.equal("number of items of client-go", recorded.length, promised.length);
    for (const [i, { due }] of promised.entries()) {
      this.trace.equal("deadline of client-go", promised.find(({ item }) => item === recorded[i])?.due, due);
    }
    if (recorded.some((item, i) => item !== promised[i]!.item)) this.trace.except("equal-deadlines");
  }
}

/**
 * Replay of traces that call `done` for ready items that are not processing. In client-go, `done` makes such an item
 * ready twice. On Redis, `done` needs a token.
 */
class DoneOfReadyItem extends Replay {
  /** Items that are ready for a second time in client-go, in order. */
  readonly #extra: number[] = [];

  override async take(): Promise<number | undefined> {
    return await super.take() ?? this.#extra.shift();
  }

  override async done(item: number): Promise<void> {
    if (!this.processing.has(item)) {
      this.#extra.push(item);
      this.trace.except("done-of-ready-item");
    }
    await super.done(item);
  }

  override async compareState(): Promise<void> {
    const { ready } = await this.engine.counts();
    this.trace.same("length, and the items twice", ready + this.#extra.length);
    this.trace.next();
  }
}

/** Returns the config of the limiter at the start of a trace. Times are multiplied by `slowness`. */
function configOf([kind, ...made]: LimiterSpec, slowness = 1): LimiterConfig {
  const ms = (index: number) => made[index] as number * slowness / 1e6;
  const count = (index: number) => made[index] as number;
  const other = (value: unknown) => configOf(value as LimiterSpec, slowness);
  switch (kind) {
    case "exponential":
      return { type: "exponential", baseDelay: ms(0), maxDelay: ms(1) };
    case "fast-slow":
      return { type: "fast-slow", fastDelay: ms(0), slowDelay: ms(1), maxFastAttempts: count(2) };
    case "bucket":
      return { type: "bucket", rate: count(0) === Number.MAX_VALUE ? Infinity : count(0) / slowness, burst: count(1) };
    case "max-of":
      return { type: "max-of", limiters: made.map(other) };
    case "max-wait":
      return { type: "max-wait", limiter: other(made[0]), maxDelay: ms(1) };
    case "default-controller":
      return other(["max-of", ["exponential", 5e6, 1e12], ["bucket", 10, 100]]);
    case "default-item":
      return other(["exponential", 1e6, 1e12]);
    default:
      throw new Error(`Cannot build a limiter of kind ${kind}`);
  }
}

/** One microsecond, in milliseconds. */
const MICROSECOND = 0.001;

/** Limiter steps with their recorded results. All steps run in order, in one call to the server. */
class Steps {
  readonly #steps: Step[] = [];
  readonly #checks: ((answer: (number | undefined)[]) => void)[] = [];
  /** Time of the trace, in nanoseconds. */
  now = 0;

  constructor(readonly trace: Trace, readonly place: Place) {}

  /** Time on the server, in whole microseconds. */
  get time(): number {
    return START + Math.floor(this.now / 1000);
  }

  add(step: Step, check: (answer: (number | undefined)[]) => void = () => {}): void {
    this.#steps.push(step);
    this.#checks.push(check);
  }

  async run(): Promise<void> {
    await using script = await LimiterScript.connect(this.place.url, this.place.name);
    const answers = await script.run(...this.#steps);
    for (const [i, answer] of answers.entries()) this.#checks[i]!(answer);
  }

  /**
   * Compares a delay with the recorded delay. The server's time and the trace's time differ by less than a microsecond.
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
async function replayLimiter(trace: Trace, place: Place): Promise<void> {
  const plan = planLimiter("replay limiter", limiters.describe(configOf(trace.limiter()))).text;
  const steps = new Steps(trace, place);
  for (let operation = trace.operation(); operation !== undefined; operation = trace.operation()) {
    const [argument, operations] = [trace.next(), trace.operations];
    switch (operation) {
      case "when": {
        const recorded = trace.next();
        steps.add(["when", steps.time, plan, `${argument}`, ""], ([delay]) => steps.delay(delay!, recorded));
        break;
      }
      case "forget":
        steps.add(["forget", steps.time, `${argument}`]);
        break;
      case "numRequeues": {
        const recorded = trace.next();
        steps.add(
          ["requeues", steps.time, plan, `${argument}`],
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
async function replayBackoffOverflow(trace: Trace, place: Place): Promise<void> {
  const spec = trace.limiter();
  const [, base, max] = spec as [string, number, number];
  const plan = planLimiter("replay limiter", limiters.describe(configOf(spec))).text;
  const steps = new Steps(trace, place);
  const failures = new Map<number, number>();
  for (let operation = trace.operation(); operation !== undefined; operation = trace.operation()) {
    const item = trace.next();
    if (operation === "forget") {
      steps.add(["forget", steps.time, `${item}`]);
      failures.delete(item);
      continue;
    }
    const times = trace.next();
    const before = (failures.get(item) ?? 0) + times - 1;
    failures.set(item, before + 1);
    for (let i = 1; i < times; i++) steps.add(["when", steps.time, plan, `${item}`, ""]);
    const recorded = trace.next();
    steps.add(["when", steps.time, plan, `${item}`, ""], ([delay]) => {
      const overflows = base === 0 ? before >= 1024 : base * 2 ** before === 2 ** 63;
      if (!overflows) return steps.delay(delay!, recorded);
      trace.equal("delay in ns", delay! * 1e6, base === 0 ? 0 : max);
      if (recorded !== delay! * 1e6) trace.except("backoff-overflow");
    });
  }
  await steps.run();
}

/**
 * Slowness of token bucket traces: one nanosecond of the trace is one microsecond on the server. Such slow motion is
 * needed because the traces ask for tokens one nanosecond before and after a token arrives.
 */
const BUCKET_SLOWNESS = 1000;

/**
 * Replays those operations of token buckets that queues use: limiters reserve tokens, and `throttle` takes available
 * tokens. Each call includes the rate and burst of the bucket. The replay of a trace ends at a change to the rate or
 * burst, a canceled reservation, or a request for zero tokens, because queues do none of these.
 */
async function replayTokenBucket(trace: Trace, { url, name }: Place): Promise<void> {
  const [rate, burst] = [trace.next(), trace.next()];
  const config = configOf(["bucket", rate, burst], BUCKET_SLOWNESS);
  const plan = planLimiter("replay bucket", limiters.describe(config)).text;
  const [[, id, slowRate]] = JSON.parse(plan) as [[string, string, number]];
  const bucket = [id, `${slowRate}`, `${burst}`] as const;
  await using script = await LimiterScript.connect(url, name);
  let now = START;
  for (let operation = trace.operation(); operation !== undefined; operation = trace.operation()) {
    now += trace.next();
    if (operation === "tokens") {
      trace.next(); // changes nothing
      continue;
    }
    const n = trace.next();
    if (operation === "delay") {
      trace.next(); // a reservation's remaining delay has no counterpart here
    } else if (operation === "allow" && n > 0) {
      const taken = await script.one("take", now, ...bucket, n);
      trace.same("allowed", taken === n);
      if (taken! < n) await script.one("give back", now, ...bucket, taken!);
    } else if (operation === "reserve" && n > 0) {
      const isGranted = rate === Number.MAX_VALUE || n <= burst;
      trace.same("ok", isGranted);
      const recorded = trace.next();
      if (!isGranted && n > 1) continue; // limiters reserve one token at a time
      let delay = 0;
      for (let i = 0; i < n; i++) delay = (await script.one("when", now, plan, "item", ""))!;
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
