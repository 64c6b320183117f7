import type { GatePermit } from "../contracts/gate.ts";
import type { Handler } from "../contracts/handler.ts";
import type { WorkLease, WorkSource } from "../contracts/work_source.ts";
import type { Meter } from "../metrics/meter.ts";
import type { BurstTime } from "../structures/burst_time.ts";
import { Attempt, AttemptContext } from "./attempt.ts";
import { Intake, type IntakePool, type Takers } from "./intake.ts";
import type { Outcomes } from "./outcome.ts";
import type { Reports } from "./reports.ts";
import { Slots } from "./slots.ts";

/** Worker, which handles one item after another. */
export interface Worker<T> {
  attempt: Attempt<T>;
}

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

/** Workers of a pool: each calls the handler for an item, carries out the outcome, and takes the next item. */
export class Workers<T> implements Takers<T> {
  readonly slots: Slots;
  readonly intake: Intake<T>;
  /** Workers that have an item. */
  readonly busy = new Set<Worker<T>>();
  readonly #pool: WorkersPool<T>;
  readonly #source: WorkSource<T>;
  readonly #keepsAttempts: boolean;
  readonly #outcomes: Outcomes<T>;
  readonly #active: Meter | undefined;

  constructor(pool: WorkersPool<T>) {
    this.#pool = pool;
    this.#source = pool.source;
    this.#keepsAttempts = pool.source.keepsAttempts;
    this.#outcomes = pool.outcomes;
    this.#active = pool.active;
    this.slots = new Slots(pool.settings);
    this.intake = new Intake(pool, this.slots, this);
  }

  /** Iterates over the attempts whose handlers are running. */
  *running(): Iterable<Attempt<T>> {
    for (const { attempt } of this.busy) if (attempt.context !== undefined) yield attempt;
  }

  /** Processes the item, and then other items as long as the intake returns any. Never rejects. */
  async work(lease: WorkLease<T>): Promise<void> {
    const worker = { attempt: new Attempt<T>(this.#pool.settings) };
    this.busy.add(worker);
    let returned = this.#handle(worker, lease);
    while (returned !== undefined) {
      const { attempt } = worker;
      try {
        this.#outcomes.succeed(attempt, await returned);
      } catch (error) {
        this.#fail(attempt, error);
      }
      returned = this.#handle(worker, this.#end(attempt));
    }
    this.busy.delete(worker);
    if (this.intake.isShutDown || this.intake.state === "stopping") this.#pool.endIfIdle();
  }

  /**
   * Processes items until a handler returns a promise or another value. Returns that value, which settles the worker's
   * attempt, or `undefined` if the intake returns no more items. Not part of `work`, because async functions are slow.
   */
  #handle(worker: Worker<T>, lease: WorkLease<T> | undefined): ReturnType<Handler<T>> {
    const { handler, time } = this.#pool; // a call as `this.#pool.handler(…)` would make the pool its `this`
    while (lease !== undefined) {
      const permit = this.intake.gate === undefined ? undefined : this.intake.gate.takePermit();
      if (!this.#begin(worker, lease, permit)) {
        if (permit !== undefined) this.orFail(() => this.intake.gate!.putBack(permit));
        lease = this.intake.take();
        continue;
      }
      const { attempt } = worker;
      try {
        if (permit !== undefined) permit.begin(lease.item);
        const { timeout } = this.#pool.settings;
        if (timeout !== undefined) attempt.startTimer(timeout, this.#onTimeout);
        const returned = handler(lease.item, attempt.context!);
        if (returned !== undefined) {
          attempt.began = time.now();
          return returned;
        }
        this.#outcomes.succeed(attempt, undefined);
      } catch (error) {
        this.#fail(attempt, error);
      }
      lease = this.#end(attempt);
    }
  }

  /** Begins an attempt, in the same turn of the event loop as its handler. Reports whether it may begin. */
  #begin(worker: Worker<T>, lease: WorkLease<T>, permit: GatePermit<T> | undefined): boolean {
    this.slots.taken++;
    const number = this.#numberOf(lease);
    if (number === undefined) {
      this.slots.taken--;
      return false;
    }
    if (this.#keepsAttempts) worker.attempt = new Attempt(this.#pool.settings);
    const { attempt } = worker;
    attempt.lease = lease;
    attempt.key = lease.key;
    attempt.number = number;
    attempt.began = attempt.rare = undefined;
    if (permit !== undefined) attempt.needRare().permit = permit;
    attempt.context = new AttemptContext(number, lease, attempt);
    if (this.#active !== undefined) this.#active.inc();
    return true;
  }

  /**
   * Returns the number of the attempt that begins now. Returns `undefined` if no attempt may begin: the item has then
   * been handed back, by the source or, if the source threw, by this method.
   */
  #numberOf(lease: WorkLease<T>): number | undefined {
    try {
      return this.#source.attemptOf(lease);
    } catch (error) { // a third-party source threw
      this.#pool.fail(error);
      this.#handBack(lease, 1);
      this.orFail(() => lease[Symbol.dispose]()); // this alone would mark the item as done
    }
  }

  /** Ends an attempt whose handler threw. */
  #fail(attempt: Attempt<T>, error: unknown): void {
    const { rare } = attempt;
    if (rare?.permit !== undefined) this.#try(attempt, () => rare.permit!.fail(error, rare.timedOut !== undefined));
    this.#outcomes.fail(attempt, error);
  }

  /** Ends an attempt whose outcome is settled, and takes the worker's next item. */
  #end(attempt: Attempt<T>): WorkLease<T> | undefined {
    const { lease, rare } = attempt;
    if (this.#active !== undefined) this.#active.dec();
    this.slots.taken--;
    attempt.context = undefined;
    if (rare !== undefined) this.#try(attempt, () => attempt.stop(rare));
    if (rare?.timedOut !== undefined) this.slots.endAbandoned();
    try {
      lease[Symbol.dispose]();
    } catch (error) { // a discipline or a third-party source threw
      this.#pool.reports.error(error, attempt);
    }
    if (rare?.permit !== undefined) this.#try(attempt, () => rare.permit!.end());
    return this.intake.take();
  }

  /**
   * Abandons the handler and continues without it. The handler's item counts as processing until the handler ends, so
   * no other handler receives the item before then.
   */
  readonly #onTimeout = (attempt: Attempt<T>): void => {
    const { reports } = this.#pool;
    const { timedOut, permit } = attempt.rare!;
    this.#outcomes.failEarly(attempt, timedOut!.error);
    reports.failed(timedOut!.error, attempt);
    const excess = this.slots.abandon();
    if (excess !== undefined) reports.error(excess, attempt);
    if (permit !== undefined) {
      this.#try(attempt, () => {
        permit.fail(timedOut!.error, true);
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
    const number = this.#numberOf(lease);
    if (number === undefined) return;
    if (this.#handBack(lease, number) !== false) return this.orFail(() => lease[Symbol.dispose]());
    this.intake.gate?.chargeAhead();
    void this.work(lease);
  }

  /** Returns `false` if the source doesn't take the item back, and `undefined` if it throws. */
  #handBack(lease: WorkLease<T>, number: number): boolean | undefined {
    return this.orFail(() => this.#outcomes.handBack({ lease, key: lease.key, number }));
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
