import { isSameKey } from "../base/keys.ts";
import type { GatePermit } from "../contracts/gate.ts";
import type { Handler } from "../contracts/handler.ts";
import type { HeldNews, WorkLease, WorkSource } from "../contracts/work_source.ts";
import type { Meter } from "../metrics/meter.ts";
import type { BurstTime } from "../structures/burst.ts";
import {
  type Attempt,
  AttemptContext,
  controllerOf,
  type RareState,
  type RunningWorker,
  startTimer,
  stop,
  type Worker,
} from "./attempt.ts";
import { Intake, type IntakePool, type Takers } from "./intake.ts";
import { Newest } from "./newest.ts";
import type { Outcomes } from "./outcome.ts";
import type { Reports } from "./reports.ts";
import { Slots } from "./slots.ts";

/** Parts of a pool that its workers use. */
export interface WorkersPool<T> extends IntakePool<T> {
  readonly handler: Handler<T>;
  readonly settings: IntakePool<T>["settings"] & { readonly queue: string };
  readonly time: BurstTime;
  readonly outcomes: Outcomes<T>;
  readonly reports: Reports<T>;
  /** Counts running handlers; `undefined` without metrics. */
  readonly active: Meter | undefined;
}

/**
 * Workers of a pool: each calls the handler for an item, carries out the outcome, and takes the next item. Closures are
 * in methods of their own, because a function with a closure allocates its variables at each call.
 */
export class Workers<T> implements Takers<T> {
  readonly slots: Slots;
  readonly intake: Intake<T>;
  /** Workers that have an item. */
  readonly busy = new Set<Worker<T>>();
  readonly #pool: WorkersPool<T>;
  readonly #source: WorkSource<T>;
  readonly #outcomes: Outcomes<T>;
  /** Aborts attempts at items that were added again; `undefined` unless the pool does that. */
  readonly #newest: Newest | undefined;

  constructor(pool: WorkersPool<T>) {
    this.#pool = pool;
    this.#source = pool.source;
    this.#outcomes = pool.outcomes;
    this.slots = new Slots(pool.settings);
    const { abortFor, clock } = pool.settings;
    this.#newest = abortFor === undefined ? undefined : new Newest(abortFor, clock);
    this.intake = new Intake(pool, this.slots, this);
  }

  /** Aborts the attempt at an item that was cancelled, or that was added again if the pool aborts such attempts. */
  readonly tell = ({ key, kind, reason }: HeldNews): void => {
    for (const { attempt } of this.busy) {
      if (attempt === undefined || !isSameKey(attempt.key, key) || attempt === this.#outcomes.settling) continue;
      if (kind === "addedAgain") this.#newest?.addedAgain(attempt);
      else {
        controllerOf(attempt).abort(reason);
        attempt.rare!.discount = kind;
      }
    }
  };

  /** Iterates over the workers whose handlers are running. */
  *running(): Iterable<RunningWorker<T>> {
    for (const worker of this.busy) if (worker.attempt !== undefined) yield worker as RunningWorker<T>;
  }

  /** Processes the item, and then other items as long as the intake returns any. Never rejects. */
  async work(lease: WorkLease<T>): Promise<void> {
    const worker: Worker<T> = { terms: this.#pool.settings, attempt: undefined, began: undefined, permit: undefined };
    this.busy.add(worker);
    for (let next: WorkLease<T> | undefined = lease; next !== undefined;) {
      const returned = this.#handle(worker, next);
      if (returned === undefined) break;
      const attempt = worker.attempt!;
      try {
        this.#outcomes.succeed(attempt, await returned);
      } catch (error) {
        this.#outcomes.fail(attempt, error);
      }
      next = this.#end(worker, attempt);
    }
    this.busy.delete(worker);
    if (this.intake.isShutDown || this.intake.state === "stopping") this.#pool.endIfIdle();
  }

  /**
   * Processes the item and the next ones, until a handler returns a promise or another value. Returns that value, which
   * settles the worker's attempt, or `undefined` if the intake returns no more items. Not part of `work`, because async
   * functions are slow.
   */
  #handle(worker: Worker<T>, first: WorkLease<T>): ReturnType<Handler<T>> {
    const { handler, settings, time, active } = this.#pool; // `this.#pool.handler(…)` would make the pool its `this`
    const { intake, slots } = this;
    for (let lease: WorkLease<T> | undefined = first; lease !== undefined;) {
      const permit = worker.permit = intake.gate === undefined ? undefined : intake.gate.takePermit();
      slots.taken++;
      const attempt = worker.attempt = this.#begin(worker, lease);
      if (attempt === undefined) {
        slots.taken--;
        if (permit !== undefined) this.#putBack(permit);
        lease = intake.take();
        continue;
      }
      if (active !== undefined) active.inc();
      try {
        if (permit !== undefined) permit.begin(lease.item);
        if (settings.timeout !== undefined) startTimer(attempt, settings.timeout, this.#onTimeout);
        const returned = handler(lease.item, new AttemptContext(attempt));
        if (returned !== undefined) {
          worker.began = time.now();
          return returned;
        }
        this.#outcomes.succeed(attempt, undefined);
      } catch (error) {
        this.#outcomes.fail(attempt, error);
      }
      lease = this.#end(worker, attempt);
    }
  }

  /**
   * Begins an attempt, in the same turn of the event loop as its handler. Returns `undefined` if it may not begin: the
   * item has then been handed back, by the source or, if the source threw, by this method.
   */
  #begin(worker: Worker<T>, lease: WorkLease<T>): Attempt<T> | undefined {
    const { key } = lease;
    let number;
    try {
      number = this.#source.attemptOf(lease);
    } catch (error) {
      this.#refuse(lease, error);
    }
    if (number === undefined) return undefined;
    return { lease, key, number, worker, rare: undefined };
  }

  /** Hands back an item for which a third-party source threw. */
  #refuse(lease: WorkLease<T>, error: unknown): void {
    this.#pool.fail(error);
    this.orFail(() => this.#outcomes.handBack({ lease, key: lease.key, number: 1 }));
    this.orFail(() => lease[Symbol.dispose]()); // this alone would mark the item as done
  }

  #putBack(permit: GatePermit<T>): void {
    this.orFail(() => permit.putBack());
  }

  /** Ends an attempt whose outcome is settled, and takes the worker's next item. */
  #end(worker: Worker<T>, attempt: Attempt<T>): WorkLease<T> | undefined {
    const { active, reports } = this.#pool;
    const { lease, rare } = attempt;
    const { permit } = worker;
    if (active !== undefined) active.dec();
    this.slots.taken--;
    if (this.#newest !== undefined) this.#newest.ended(attempt);
    worker.attempt = worker.began = undefined;
    if (rare !== undefined) this.#stop(attempt, rare);
    try {
      lease[Symbol.dispose]();
    } catch (error) { // a discipline or a third-party source threw
      reports.error(error, attempt);
    }
    if (permit !== undefined) this.#endPermit(attempt, permit);
    return this.intake.take();
  }

  #stop(attempt: Attempt<T>, rare: RareState): void {
    this.#try(attempt, () => stop(rare, this.#pool.settings.clock));
    if (rare.timedOut !== undefined) this.slots.endAbandoned();
  }

  #endPermit(attempt: Attempt<T>, permit: GatePermit<T>): void {
    this.#try(attempt, () => permit.end());
  }

  /**
   * Abandons the handler and continues without it. The handler's item counts as processing until the handler ends, so
   * no other handler receives the item before then.
   */
  readonly #onTimeout = (attempt: Attempt<T>): void => {
    const { rare, worker: { permit } } = attempt;
    const { timedOut, discount } = rare!;
    const { error } = timedOut!;
    if (discount === undefined) this.#outcomes.failEarly(attempt, error);
    const excess = this.slots.abandon();
    if (excess !== undefined) this.#pool.reports.error(excess, attempt);
    if (permit !== undefined) {
      this.#try(attempt, () => {
        if (discount !== undefined) return permit.putBack();
        permit.fail(error, true);
        permit.end();
      });
    }
    this.intake.fill();
  };

  /**
   * Hands back an item for which no handler may start. If the source refuses to take the item back, the pool processes
   * the item after all.
   */
  handBack(lease: WorkLease<T>): void {
    const attempt = this.#begin({ terms: this.#pool.settings, attempt: undefined }, lease);
    if (attempt === undefined) return;
    const isHandedBack = this.orFail(() => this.#outcomes.handBack(attempt));
    if (isHandedBack !== false) return this.orFail(() => lease[Symbol.dispose]());
    this.intake.gate?.chargeAhead();
    void this.work(lease);
  }

  /** Calls a third-party throttle, clock or signal. If it throws, reports the error. */
  #try(attempt: Attempt<T>, call: () => void): void {
    try {
      call();
    } catch (error) {
      this.#pool.reports.error(error, attempt);
    }
  }

  /** Calls a third-party source or throttle. If it throws, stops the pool. */
  orFail<R>(call: () => R): R | undefined {
    try {
      return call();
    } catch (error) {
      this.#pool.fail(error);
    }
  }
}
