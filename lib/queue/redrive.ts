import { type Clock, isRealTime, unref } from "../base/clock.ts";
import type { RedriveProgress } from "../contracts/given_up.ts";
import { nextRedriveAt } from "../policy/given_up.ts";
import type { KeptEntry, Scan } from "./kept_items.ts";

/** Longest slice, in milliseconds. */
const MAX_SLICE = 10;
/** Number of steps between two reads of the clock. */
const STEPS_PER_LOOK = 64;
/** Time for which a redrive that is late adds faster, in milliseconds, because timers fire late. */
const CATCH_UP = 100;
/** Longest sleep, in milliseconds. A longer sleep is divided. */
const MAX_SLEEP = 10_000;

/** Work of a redrive. */
export interface RedriveWork<T> {
  readonly scan: Scan<T>;
  /** Maximum number of items per second. */
  readonly rate: number;
  readonly clock: Clock;
  /** Whether the timer keeps the process alive. */
  readonly ref: boolean;
  /** Whether the queue is shut down. */
  isOver(): boolean;
  /** Adds an item again. Reports whether it was added. Must not throw. */
  addAgain(entry: KeptEntry<T>): boolean;
}

/**
 * Job that adds given-up items again, in slices and at most at a rate. With a clock other than the system's, there are
 * no slices.
 */
export class Redrive<T> {
  readonly #work: RedriveWork<T>;
  #redriven = 0;
  #isRunning = true;
  /** Number of items that were left when the redrive ended. */
  #leftAtEnd = 0;
  #timer: unknown = undefined;
  #isSleeping = false;
  /** Earliest time of the next item. */
  #nextAt: number;

  constructor(work: RedriveWork<T>) {
    this.#work = work;
    this.#nextAt = work.clock.now();
  }

  get progress(): RedriveProgress {
    const left = this.#isRunning ? this.#work.scan.countLeft() : this.#leftAtEnd;
    return { redriven: this.#redriven, left, running: this.#isRunning };
  }

  stop(): void {
    if (!this.#isRunning) return;
    this.#isRunning = false;
    this.#leftAtEnd = this.#work.scan.countLeft();
    if (this.#isSleeping) this.#work.clock.clearTimeout(this.#timer);
  }

  /** Adds items until the time of the next one. Called once by the owner, and then by a timer. */
  run(): void {
    const { clock, scan, isOver, addAgain, rate } = this.#work;
    const endsAt = isRealTime(clock) ? clock.now() + MAX_SLICE : Infinity;
    for (let steps = 1; this.#isRunning; steps++) {
      if (rate < Infinity && clock.now() < this.#nextAt && scan.countLeft(1) > 0) {
        return this.#sleep(this.#nextAt - clock.now());
      }
      if (endsAt < Infinity && steps % STEPS_PER_LOOK === 0 && clock.now() >= endsAt) return this.#sleep(0);
      const entry = isOver() ? false : scan.next();
      if (entry === false) return this.stop();
      if (entry === undefined) continue;
      if (rate < Infinity) this.#nextAt = nextRedriveAt(this.#nextAt, clock.now(), 1000 / rate, CATCH_UP);
      if (addAgain(entry)) this.#redriven++;
    }
  }

  #sleep(ms: number): void {
    const { clock, ref } = this.#work;
    this.#isSleeping = true;
    this.#timer = clock.setTimeout(() => {
      this.#isSleeping = false;
      this.run();
    }, Math.min(Math.ceil(ms), MAX_SLEEP));
    if (!ref) unref(this.#timer);
  }
}
