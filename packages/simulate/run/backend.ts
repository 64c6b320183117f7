import type { Clock } from "@workqueue/core";
import { NumberHeap } from "@workqueue/core/internal/structures";
import type { Backend } from "../load/kinds.ts";

/** Work that a backend does. */
export interface Job {
  /** Called when the backend has done the work. */
  readonly onDone: () => void;
  /** Slot in the heap; -1 if the work has ended. */
  slot: number;
}

/**
 * Backend that works on up to `capacity` jobs at full speed, and shares its speed equally among more.
 *
 * A job is done when the backend's progress reaches a number that is known when the job begins, so only the next job
 * needs a timer.
 */
export class SharedBackend {
  readonly #clock: Clock;
  readonly #terms: Backend;
  #capacity: number;
  #limit: number;
  readonly #jobs = new NumberHeap<Job>();
  /** Work that a job would have received by `#progressAt` if it had begun at the start, as time at full speed. */
  #progress = 0;
  #progressAt = 0;
  #timer: unknown;
  /** Number of the minute in which the backend last began a job, and the jobs that began in it. */
  #minute = 0;
  #begunInMinute = 0;

  constructor(clock: Clock, terms: Backend) {
    this.#clock = clock;
    this.#terms = terms;
    this.#capacity = terms.capacity;
    this.#limit = terms.limit;
  }

  /** Whether the backend refuses further jobs, because of its limit or its quota. */
  get isFull(): boolean {
    if (this.#jobs.length >= this.#limit) return true;
    const { quota } = this.#terms;
    return quota !== undefined && this.#begunInMinute >= quota && this.#minute === this.#currentMinute;
  }

  get #currentMinute(): number {
    return Math.floor(this.#clock.now() / 60_000);
  }

  /** Changes the capacity and, if one is given, the number of jobs from which on further ones are refused. */
  change(capacity: number, limit = this.#limit): void {
    this.#advance();
    this.#capacity = capacity;
    this.#limit = limit;
    this.#setTimer();
  }

  /** Begins a job that takes `ms` milliseconds at full speed. */
  begin(ms: number, onDone: () => void): Job {
    const minute = this.#currentMinute;
    if (minute !== this.#minute) [this.#minute, this.#begunInMinute] = [minute, 0];
    this.#begunInMinute++;
    this.#advance();
    const job: Job = { onDone, slot: -1 };
    job.slot = this.#jobs.push(job, this.#progress + ms);
    this.#setTimer();
    return job;
  }

  /** Called when nobody waits for the job any more. */
  abandon(job: Job): void {
    if (job.slot === -1 || !this.#terms.stops) return;
    this.#advance();
    this.#jobs.remove(job.slot);
    job.slot = -1;
    this.#setTimer();
  }

  get #speed(): number {
    return Math.min(1, this.#capacity / this.#jobs.length);
  }

  #advance(): void {
    const now = this.#clock.now();
    if (this.#jobs.length > 0) this.#progress += (now - this.#progressAt) * this.#speed;
    this.#progressAt = now;
  }

  #setTimer(): void {
    this.#clock.clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#jobs.length === 0) return;
    const left = Math.max(this.#jobs.smallest - this.#progress, 0);
    this.#timer = this.#clock.setTimeout(() => this.#finish(), left / this.#speed);
  }

  #finish(): void {
    this.#advance();
    this.#progress = Math.max(this.#progress, this.#jobs.smallest); // in spite of rounding
    while (this.#jobs.smallest <= this.#progress) {
      const job = this.#jobs.pop()!;
      job.slot = -1;
      job.onDone();
    }
    this.#setTimer();
  }
}
