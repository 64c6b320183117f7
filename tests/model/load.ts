/**
 * Random loads on a queue with a discipline, under virtual time. Tests check the recorded trace of all calls to the
 * discipline.
 */

import * as fc from "fast-check";
import {
  adaptDiscipline,
  createExponentialLimiter,
  createRateLimitingQueue,
  type QueueDiscipline,
  type RateLimitingQueue,
  type ReadyEntry,
} from "@workqueue/core";
import { HandClock } from "../helpers.ts";

/**
 * Items that are added over time, and the work that a worker does after each hand-out. All times are whole
 * milliseconds.
 */
export interface Load {
  readonly workers: number;
  readonly addWhileDelayed: "keep" | "replace" | "fold";
  readonly arrivals: readonly Arrival[];
  /** Work for each hand-out, in order. The work of any further hand-outs ends immediately. */
  readonly works: readonly Work[];
}

interface Arrival {
  /** Time since the previous arrival. */
  readonly after: number;
  readonly how: "add" | "addAfter" | "addRateLimited";
  readonly key: string;
  readonly delay: number;
  readonly priority: number;
  /**
   * Jump of the clock at the time of the arrival. No timer fires during the jump. A positive jump stands for a machine
   * that sleeps, a negative jump for a clock that is set back.
   */
  readonly jump: number;
}

interface Work {
  readonly takes: number;
  readonly then: "done" | "retry" | "addAgain";
  readonly priority: number;
}

/**
 * Generates loads whose priorities are multiples of one half. Most loads build up a backlog, so that the discipline can
 * choose between items. fast-check's bias is off. It would make half of the first loads short, with little work.
 */
export function loads(key: fc.Arbitrary<string>, maxArrivals = 80): fc.Arbitrary<Load> {
  const priority = fc.oneof(fc.constantFrom(-10, 0, 10), fc.integer({ min: -30, max: 30 }).map((half) => half / 2));
  const arrival = fc.record({
    after: fc.oneof(fc.constant(0), fc.nat(3), fc.nat(20)),
    how: fc.constantFrom("add" as const, "add" as const, "addAfter" as const, "addRateLimited" as const),
    key,
    delay: fc.integer({ min: -1, max: 60 }),
    priority,
    jump: fc.oneof({ weight: 15, arbitrary: fc.constant(0) }, {
      weight: 1,
      arbitrary: fc.integer({ min: -20, max: 50 }),
    }),
  });
  const work = fc.record({
    takes: fc.oneof(fc.constant(0), fc.nat(10), fc.nat(200)),
    then: fc.constantFrom("done" as const, "done" as const, "retry" as const, "addAgain" as const),
    priority,
  });
  return fc.noBias(fc.record({
    workers: fc.integer({ min: 1, max: 4 }),
    addWhileDelayed: fc.constantFrom("keep" as const, "replace" as const, "fold" as const),
    arrivals: fc.array(arrival, { minLength: 1, maxLength: maxArrivals, size: "max" }),
    works: fc.array(work, { maxLength: maxArrivals, size: "max" }),
  }));
}

/** Call to a discipline. */
export interface Call {
  readonly what: "push" | "touch" | "pop" | "done";
  /**
   * Entry that was passed to the call or returned by it. An item keeps the same entry object from the moment it is
   * pushed until its work has ended.
   */
  readonly entry: ReadyEntry<string>;
  /** Values of the entry at the time of the call. */
  readonly readyAt: number;
  readonly priority: number;
  /** Clock time of the call. */
  readonly at: number;
  /** Values of the discipline after the call. */
  readonly length: number;
  readonly blocked: number;
  /** Number of workers that were waiting for an item. */
  readonly idle: number;
}

/** Runs a load on a queue with this discipline until all work is done. Returns the calls to the discipline. */
export function traceOf(load: Load, discipline: QueueDiscipline<string>): Call[] {
  return new Run(load, discipline).trace;
}

class Run {
  readonly trace: Call[] = [];
  readonly #clock = new HandClock();
  readonly #queue: RateLimitingQueue<string>;
  readonly #works: Iterator<Work>;
  #idle = 0;

  constructor({ workers, addWhileDelayed, arrivals, works }: Load, discipline: QueueDiscipline<string>) {
    this.#works = works.values();
    this.#queue = createRateLimitingQueue(createExponentialLimiter({ baseDelay: 4, maxDelay: 64 }), {
      clock: this.#clock,
      discipline: this.#watched(discipline),
      addWhileDelayed,
    });
    for (let worker = 0; worker < workers; worker++) this.#takeNext();
    this.#await(arrivals.values());
    while (this.#clock.fireNext());
  }

  #await(arrivals: Iterator<Arrival>): void {
    const { value: arrival, done } = arrivals.next();
    if (done) return;
    this.#clock.setTimeout(() => {
      this.#clock.time += arrival.jump;
      this.#add(arrival);
      this.#await(arrivals);
    }, arrival.after);
  }

  #add({ how, key, delay, priority }: Arrival): void {
    if (how === "addAfter") this.#queue.addAfter(key, delay, { priority });
    else this.#queue[how](key, { priority });
  }

  /** Requests the next item. The promise of `get` is ignored, because the discipline's `pop` reports the item. */
  #takeNext(): void {
    this.#idle++;
    void this.#queue.get();
  }

  #begin(key: string): void {
    const { takes, then, priority }: Work = this.#works.next().value ?? { takes: 0, then: "done", priority: 0 };
    this.#clock.setTimeout(() => {
      if (then === "retry") this.#queue.addRateLimited(key, { priority });
      else if (then === "addAgain") this.#queue.add(key, { priority });
      else this.#queue.forget(key);
      this.#queue.done(key);
      this.#takeNext();
    }, takes);
  }

  #watched(discipline: QueueDiscipline<string>): QueueDiscipline<string> {
    const note = (what: Call["what"], entry: ReadyEntry<string>) => {
      const { readyAt, priority } = entry;
      const { length, blocked = 0 } = discipline;
      this.trace.push({ what, entry, readyAt, priority, at: this.#clock.now(), length, blocked, idle: this.#idle });
    };
    return adaptDiscipline<QueueDiscipline<string>>({
      push(entry) {
        discipline.push(entry);
        note("push", entry);
      },
      touch(entry) {
        discipline.touch(entry);
        note("touch", entry);
      },
      pop: () => {
        const entry = discipline.pop()!;
        this.#idle--;
        note("pop", entry);
        this.#begin(entry.item);
        return entry;
      },
      done(entry) {
        discipline.done?.(entry);
        note("done", entry);
      },
      get length() {
        return discipline.length;
      },
      get blocked() {
        return discipline.blocked ?? 0;
      },
    });
  }
}
