import {
  loadConfig,
  type LoadConfigOptions,
  type RateLimitingQueue,
  RetryAfterError,
  TerminalError,
  type WorkerPool,
  type WorkQueueConfig,
} from "@workqueue/core";
import { recordTimes } from "@workqueue/core/metrics";
import type { Change, Failing } from "../load/kinds.ts";
import type { Load } from "../load/load.ts";
import { RandomNumbers } from "../random/random_numbers.ts";
import type { Trace, TracedAttempt } from "../trace/read_trace.ts";
import { VirtualClock } from "../time/virtual_clock.ts";
import type { Arrival } from "../load/arrival.ts";
import { arrivalsOf } from "./arrival_source.ts";
import { type Job, SharedBackend } from "./backend.ts";
import { Ledger, newItem, type OpenItem } from "./ledger.ts";
import { Outages } from "./outages.ts";
import { Timeline } from "./timeline.ts";

/** Largest number of groups, and of priorities, of a trace that the report lists. */
const MAX_CLASSES = 20;

/** Number of attempts at one item from which on time seems to stand still. */
const MAX_ATTEMPTS_AT_ONCE = 10_000;

/** Number of the first item that begins without an arrival. Arrivals have smaller numbers. */
const FIRST_NEW_NUMBER = 2 ** 31;

/** Reports whether an error says that the queue can't pause what a `RetryAfterError` wants to pause. */
function isImpossibleScope(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith("Cannot pause ");
}

/** Error of an attempt that fails in a simulation. */
class SimulatedError extends Error {
  override readonly name = "SimulatedError";
}

/** Failure that was recorded in the trace. */
const IN_TRACE: Failing = {
  reason: "trace",
  after: undefined,
  retryAfter: undefined,
  scope: undefined,
  isTerminal: false,
};

/** The queue and the pool of one process. */
interface Process {
  readonly config: WorkQueueConfig;
  readonly queue: RateLimitingQueue<string>;
  readonly pool: WorkerPool<string>;
  /** End of the pauses so far. */
  pausedUntil: number;
}

/** Numbers of a simulation. */
export interface Counts {
  /** Arrivals of items, including folded ones. */
  arrivals: number;
  /** Arrivals that caused no attempt, because the key was ready, or was added during its attempt, already. */
  folded: number;
  /** Events of failing keys. */
  events: number;
  /** Attempts, including retries. */
  attempts: number;
  /** Attempts after a failure. */
  retries: number;
  /** Items that ended with a success. */
  succeeded: number;
  /** Items that were given up. */
  givenUp: number;
  /** Items that a deploy dropped. */
  lost: number;
}

/** Config and context of a simulation. */
export interface Terms {
  readonly document: string | object;
  /** Configs to which the load's reloads refer, by path. */
  readonly configs: Readonly<Record<string, string | object>>;
  readonly queue: string;
  readonly registries: Pick<LoadConfigOptions, "limiters" | "disciplines" | "throttles">;
  readonly load: Load;
  /** Trace of the load, if the load has one. */
  readonly trace?: Trace | undefined;
  readonly seed: number;
}

/** Runs the queue of a config under a load, with a virtual clock. */
export class Simulation {
  readonly clock = new VirtualClock();
  readonly counts: Counts = {
    arrivals: 0,
    folded: 0,
    events: 0,
    attempts: 0,
    retries: 0,
    succeeded: 0,
    givenUp: 0,
    lost: 0,
  };
  readonly failures = new Map<string, number>();
  readonly ledger: Ledger;
  readonly timeline: Timeline;
  readonly outages: Outages;
  /** Time for which workers were busy with attempts, in milliseconds. */
  busy = 0;
  /** Sum of the times from the arrival of each item to its end, in milliseconds. */
  totalTime = 0;
  /** Time for which the pool's workers existed, in milliseconds. */
  capacity = 0;
  readonly #terms: Terms;
  readonly #random: () => number;
  readonly #arrivals: Iterator<Arrival, void>;
  readonly #open = new Map<string, OpenItem>();
  /** Number of attempts at each key so far, if there is a trace. */
  readonly #traced = new Map<string, number>();
  readonly #slowness: ReadonlyMap<string, number>;
  readonly #backend: SharedBackend | undefined;
  #document: string | object;
  #process: Process | undefined;
  /** Changes that came while no process was running. */
  readonly #skipped = new Set<Change>();
  /** Errors that were counted when they were thrown. */
  readonly #counted = new WeakSet<Error>();
  #hasArrived = false;
  /** Item that is retried without any delay. */
  #stuck: OpenItem | undefined = undefined;
  /** Error that ended a pool. */
  #broken: { readonly error: unknown } | undefined = undefined;
  #newNumbers = 0;
  /** Wait of the item that was handed out last, in milliseconds. */
  #waited = 0;
  /** Number of attempts that are running. */
  #running = 0;
  /** Time up to which the workers' time has been counted. */
  #countedAt = 0;

  constructor(terms: Terms) {
    const { load, seed, document } = terms;
    this.#terms = terms;
    this.#document = document;
    const random = RandomNumbers.for(seed, "limiters");
    this.#random = () => random.uniform();
    this.#arrivals = arrivalsOf(load, seed, terms.trace);
    this.#slowness = new Map(load.groups.map(({ name, slowness }) => [name, slowness]));
    this.#backend = load.backend && new SharedBackend(this.clock, load.backend);
    this.ledger = new Ledger(
      ...(terms.trace === undefined ? classesOf(load) : tracedClasses(terms.trace)),
      load.warmUp,
    );
    this.timeline = new Timeline(load.duration);
    this.outages = new Outages(load.failures.flatMap(({ outage }) => outage ?? []), this.counts);
  }

  /** Changes of the load that were not carried out, because the simulation ended before, or during a deploy. */
  get missedChanges(): readonly Change[] {
    return this.#terms.load.changes.filter((change) => change.at > this.clock.now() || this.#skipped.has(change));
  }

  /** Number of items that have arrived and have not ended. */
  get backlog(): number {
    return this.#open.size;
  }

  /**
   * Runs the simulation until no item is left, or until the end of the load.
   *
   * @throws {Error} If an attempt is still running although no timer is left that could end it, or if an item is
   * retried again and again at the same time.
   */
  async run(): Promise<void> {
    const { load } = this.#terms;
    const at = (time: number, action: () => void) => void this.clock.setTimeout(action, time - this.clock.now());
    this.#process = this.#start();
    this.outages.schedule(at, () => this.#open.values());
    for (const change of load.changes) at(change.at, () => this.#carryOut(change));
    this.#nextArrival();
    await this.clock.run(load.end, () => this.#hasEnded);
    this.#requireProgress();
    if (this.clock.isIdle) this.#requireNoneRunning();
    this.#countWorkers();
    this.#process?.queue.shutDown();
    void this.#process?.pool.stop();
  }

  /** Whether there is nothing left to simulate. */
  get #hasEnded(): boolean {
    return this.#stuck !== undefined || this.#broken !== undefined || (this.#hasArrived && this.#open.size === 0);
  }

  #requireProgress(): void {
    if (this.#broken !== undefined) {
      const { error } = this.#broken;
      const message = error instanceof Error ? error.message : String(error);
      throw new Error(`Cannot simulate: the workers of queue '${this.#terms.queue}' stopped: ${message}`, {
        cause: error,
      });
    }
    if (this.#stuck === undefined) return;
    const { arrival: { key }, latest: { at, attempts } } = this.#stuck;
    const often = `'${key}' was tried ${attempts} times at ${at} ms`;
    throw new Error(`Cannot simulate: ${often}, because neither attempts nor delays take time`);
  }

  #requireNoneRunning(): void {
    for (const { arrival: { key }, isRunning, isHanging } of this.#open.values()) {
      if (!isRunning || isHanging) continue;
      const handler = `the handler of queue '${this.#terms.queue}' is still working on '${key}'`;
      throw new Error(`Cannot simulate: ${handler}, but no timer is left that could end this`);
    }
  }

  #start(): Process {
    const { queue: name, registries } = this.#terms;
    const config = loadConfig(this.#document, { ...registries, clock: this.clock, random: this.#random });
    const queue = config.queue<string>(name);
    recordTimes(queue, { waited: (ms) => this.#waited = ms, worked() {} });
    const pool = config.runWorkers(name, queue, (key, { attempt, signal }) => this.#handle(key, attempt, signal), {
      onError: (error, key) => this.#failed(key, error),
      onGiveUp: (_, key, _attempts, reason) => this.#gaveUp(key, reason),
    });
    pool.finished.catch((error: unknown) => this.#broken = { error }); // a plugin's part threw
    return { config, queue, pool, pausedUntil: 0 };
  }

  /** Sets a timer for the next arrival. */
  #nextArrival(): void {
    const { done, value } = this.#arrivals.next();
    if (done) {
      this.#hasArrived = true;
      return;
    }
    this.clock.setTimeout(() => {
      this.#arrive(value);
      this.#nextArrival();
    }, value.at - this.clock.now());
  }

  #arrive(arrival: Arrival): void {
    this.counts.arrivals++;
    this.timeline.at(arrival.at).arrivals++;
    const item = this.#open.get(arrival.key);
    const queue = this.#process?.queue;
    const before = queue?.length;
    const causesAttempt = item === undefined || (item.isRunning && item.again === undefined);
    this.#add(arrival);
    if (!causesAttempt && queue?.length === before) this.counts.folded++;
  }

  /** Adds an item, or an item that is there already. */
  #add(arrival: Arrival): void {
    const { key, priority, at } = arrival;
    const item = this.#open.get(key);
    if (item === undefined) this.#open.set(key, newItem(arrival));
    else if (item.isRunning) item.again ??= arrival;
    this.timeline.setBacklog(at, this.#open.size);
    this.#process?.queue.add(key, { priority });
  }

  /** Handles an item: takes the time of its work, and succeeds or fails. */
  async #handle(key: string, attempt: number, signal: AbortSignal): Promise<void> {
    const item = this.#open.get(key) ?? this.#reopened(key);
    const at = this.clock.now();
    this.#begin(item, at, attempt);
    try {
      await this.#work(item, at, signal);
    } finally {
      item.isRunning = false;
      this.#countWorkers();
      this.#running--;
    }
    this.counts.succeeded++;
    this.timeline.at(this.clock.now()).successes++;
    this.ledger.ended(item.arrival, this.clock.now() - item.arrival.at);
    this.#close(item);
  }

  /**
   * Returns an item for a key that is handed out although its item has ended: it was added while it was delayed, and
   * its delay has ended only now.
   */
  #reopened(key: string): OpenItem {
    const group = [...this.ledger.byGroup.keys()].find((name) => key.startsWith(`${name}/`)) ?? "";
    const item = newItem({ number: this.#newNumber(), at: this.clock.now(), key, group, priority: 0 });
    this.#open.set(key, item);
    return item;
  }

  /** Returns the number of an item that the load's arrivals don't have, so that it has random numbers of its own. */
  #newNumber(): number {
    return FIRST_NEW_NUMBER + this.#newNumbers++;
  }

  #begin(item: OpenItem, at: number, attempt: number): void {
    this.#countWorkers();
    this.#running++;
    item.isRunning = true;
    item.again = undefined; // this attempt also serves adds that came during a failed one
    item.attempts++;
    item.latest = { at, attempts: at === item.latest.at ? item.latest.attempts + 1 : 1 };
    if (item.latest.attempts > MAX_ATTEMPTS_AT_ONCE) this.#stuck ??= item;
    this.counts.attempts++;
    const step = this.timeline.begin(at, attempt > 1);
    if (attempt > 1) this.counts.retries++;
    if (this.#waited > step.wait) step.wait = this.#waited;
    this.ledger.waited(item.arrival, this.#waited);
  }

  async #work(item: OpenItem, at: number, signal: AbortSignal): Promise<void> {
    const { load, seed } = this.#terms;
    const { failures } = load;
    const { key, group, number: arrival } = item.arrival;
    const traced = this.#nextTraced(item);
    const attempt = { key, group, arrival, attempt: item.attempts, at, seed };
    let failing = traced?.hasFailed ? IN_TRACE : undefined;
    for (let i = 0; failing === undefined && i < failures.length; i++) failing = failures[i]!.failing(attempt);
    item.isHanging = failing?.after === Infinity;
    if (failing?.after !== undefined) await this.#sleep(failing.after, signal);
    else {
      if (this.#backend?.isFull) {
        await this.#sleep(load.backend!.refusesAfter, signal);
        throw this.#error(item, this.#refusal);
      }
      await this.#sleep(traced?.ms ?? this.#timeOf(item), signal, this.#backend);
    }
    if (failing !== undefined) throw this.#error(item, failing);
  }

  /** Returns the attempt of the trace that this attempt repeats; `undefined` if there is none. */
  #nextTraced({ arrival: { key, number }, attempts }: OpenItem): TracedAttempt | undefined {
    const { trace, seed } = this.#terms;
    if (trace === undefined) return undefined;
    const index = this.#traced.get(key) ?? 0;
    this.#traced.set(key, index + 1);
    const { times } = trace;
    const drawn = Math.floor(RandomNumbers.for(seed, "work", number, attempts).uniform() * times.length);
    return trace.attempts.get(key)?.[index] ?? { ms: times[drawn] ?? 0, hasFailed: false };
  }

  #timeOf({ arrival: { number, group }, attempts }: OpenItem): number {
    const { load, seed } = this.#terms;
    return load.work!.time(RandomNumbers.for(seed, "work", number, attempts)) * (this.#slowness.get(group) ?? 1);
  }

  get #refusal(): Failing {
    const { retryAfter, scope } = this.#terms.load.backend!;
    return { reason: "refused", after: undefined, retryAfter, scope, isTerminal: false };
  }

  #error(item: OpenItem, { reason, retryAfter, scope, isTerminal }: Failing): Error {
    item.failing = reason;
    if (isTerminal) return new TerminalError(reason);
    if (retryAfter === undefined) return new SimulatedError(reason);
    const error = new RetryAfterError(retryAfter, reason, { scope });
    if (error.scope !== "item") {
      this.#failed(item.arrival.key, error); // the pool doesn't report the error, because it is no failure to the pool
      this.#counted.add(error);
    }
    return error;
  }

  /** Waits for a time, or until the backend has done work that takes this time at full speed. */
  #sleep(ms: number, signal: AbortSignal, backend?: SharedBackend): Promise<void> {
    return new Promise((resolve, reject) => {
      let job: Job | undefined;
      let timer: unknown;
      signal.addEventListener("abort", () => {
        if (job !== undefined) backend!.abandon(job);
        this.clock.clearTimeout(timer);
        reject(signal.reason);
      }, { once: true });
      if (backend !== undefined) job = backend.begin(ms, resolve);
      else if (ms < Infinity) timer = this.clock.setTimeout(resolve, ms);
    });
  }

  #failed(key: string, error: unknown): void {
    const item = this.#open.get(key);
    if (item === undefined || this.#counted.has(error as Error) || isImpossibleScope(error)) return;
    if ((error as Error).name === "TimeoutError") item.failing = "timeout";
    const reason = item.failing ?? "other";
    this.failures.set(reason, (this.failures.get(reason) ?? 0) + 1);
    this.timeline.at(this.clock.now()).failures++;
    if (reason === "poison") this.outages.leave(item, this.clock.now());
    if (!item.hasEvents) this.#makeEvents(item, 0);
  }

  /** Adds a failing key again, at random times, until it succeeds. */
  #makeEvents(item: OpenItem, count: number): void {
    const { load: { eventsWhileFailing: mean }, seed } = this.#terms;
    if (mean === undefined) return;
    item.hasEvents = true;
    const { arrival } = item;
    this.clock.setTimeout(() => {
      if (this.#open.get(arrival.key) !== item) return;
      this.counts.events++;
      this.#add({ ...arrival, number: this.#newNumber(), at: this.clock.now() });
      this.#makeEvents(item, count + 1);
    }, mean * RandomNumbers.for(seed, "events", arrival.number, count).exponential());
  }

  #gaveUp(key: string, reason: string): void {
    const item = this.#open.get(key);
    if (item === undefined || reason === "shutdown") return; // the new process adds the item again, or it is lost
    this.counts.givenUp++;
    this.#close(item);
  }

  /** Ends an item. If the key was added again while the item was processing, another item begins. */
  #close(item: OpenItem): void {
    const { arrival: { key }, again } = item;
    const now = this.clock.now();
    this.totalTime += now - item.arrival.at;
    this.outages.leave(item, now);
    if (again === undefined) this.#open.delete(key);
    else this.#open.set(key, newItem(again));
    this.timeline.setBacklog(now, this.#open.size);
  }

  #carryOut(change: Change): void {
    const { action } = change;
    const process = this.#process;
    this.#countWorkers();
    if (action.type === "reload") {
      this.#document = this.#terms.configs[action.config]!; // the next process begins with it
      process?.config.reload(this.#document);
    } else if (process === undefined) this.#skipped.add(change);
    else if (action.type === "capacity") this.#backend!.change(action.capacity, action.limit);
    else if (action.type === "concurrency") process.pool.concurrency = action.concurrency;
    else if (action.type === "pause") this.#pause(process, action.for);
    else void this.#deploy(process, action.for, action.relist);
  }

  /** Pauses a pool until all its pauses have ended. */
  #pause(process: Process, ms: number): void {
    process.pausedUntil = Math.max(process.pausedUntil, this.clock.now() + ms);
    process.pool.pause();
    this.clock.setTimeout(() => {
      if (this.clock.now() >= process.pausedUntil) process.pool.resume();
    }, ms);
  }

  async #deploy({ queue, pool }: Process, downtime: number, relist: boolean): Promise<void> {
    this.#process = undefined;
    await queue.shutDownWithDrain();
    await pool.finished;
    this.clock.setTimeout(() => {
      this.#countWorkers();
      this.#process = this.#start();
      if (!relist) return this.#lose();
      for (const { arrival: { key, priority } } of this.#open.values()) this.#process.queue.add(key, { priority });
    }, downtime);
  }

  /** Forgets the items that the new process doesn't know. */
  #lose(): void {
    for (const item of this.#open.values()) this.outages.leave(item, this.clock.now());
    this.counts.lost += this.#open.size;
    this.#open.clear();
    this.timeline.setBacklog(this.clock.now(), 0);
  }

  /**
   * Counts the workers' time since the last call, before the number of workers or of running attempts changes. A pool
   * that is draining, or whose concurrency was lowered, keeps the workers whose attempts are running.
   */
  #countWorkers(): void {
    const now = this.clock.now();
    const time = now - this.#countedAt;
    this.busy += time * this.#running;
    this.capacity += time * Math.max(this.#process?.pool.concurrency ?? 0, this.#running);
    this.#countedAt = now;
  }
}

/** Returns the groups and the priorities whose times are recorded. */
function classesOf({ groups, priorities, arrivals }: Load): [groups: string[], priorities: number[]] {
  const names = [...groups.map(({ name }) => name), ...arrivals.flatMap(({ group }) => group ?? [])];
  const numbers = [...[...priorities?.keys() ?? []].map(Number), ...arrivals.flatMap(({ priority }) => priority ?? [])];
  return [[...new Set(names)], [...new Set(numbers)]];
}

/** Returns the groups and the priorities of a trace whose times are recorded: the most frequent ones. */
function tracedClasses({ arrivals }: Trace): [groups: string[], priorities: number[]] {
  const groups = mostFrequent(arrivals.map(({ group }) => group)).filter((group) => group !== "");
  const priorities = mostFrequent(arrivals.map(({ priority }) => priority));
  return [groups, priorities.length === 1 ? [] : priorities];
}

/** Returns the most frequent values, at most `MAX_CLASSES`, the most frequent first. */
function mostFrequent<V>(values: readonly V[]): V[] {
  const counts = new Map<V, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts].sort(([, a], [, b]) => b - a).slice(0, MAX_CLASSES).map(([value]) => value);
}
