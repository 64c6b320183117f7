import {
  type Delay,
  type DelayKind,
  type DelayNode,
  type DelayNodeOf,
  entryOf,
  type FailureInput,
  type FailureRules,
  type StoredFailures,
} from "@workqueue/engine";
import { PRODUCT } from "../product.ts";
import { Buckets } from "./buckets.ts";
import { FAR, toMicroseconds } from "./time.ts";
import type { Transaction } from "./transaction.ts";

/** Failures of a key. */
interface Failure {
  readonly count: number;
  /** Time when the retry is due, if early failures are not counted. */
  readonly due: number | undefined;
  /** Time of the first failure. */
  readonly since: number;
  readonly error: string;
}

/** Row of the table `failures`. */
interface Row {
  readonly key: string;
  readonly count: number;
  readonly ends: number | null;
  readonly due: number | null;
  readonly since: number;
  readonly error: string;
}

/** Time in microseconds by which an attempt may begin before it is due, as for limiters in memory. */
const ROUNDING = 1;

/**
 * Failures of the keys of one queue, in one transaction. Each call has the rules for counting and the delay that the
 * process's limiter gives, so a changed limiter takes effect immediately.
 */
export class Failures {
  readonly #tx: Transaction;
  readonly buckets: Buckets;

  constructor(tx: Transaction) {
    this.#tx = tx;
    this.buckets = new Buckets(tx);
  }

  /** Returns the failures of a key; `undefined` if it has none. */
  find(key: string): Failure | undefined {
    if (this.#tx.state.failing === 0) return undefined;
    const row = this.#row(key);
    return row === undefined || this.#isOver(row) ? undefined : failureOf(row);
  }

  /**
   * Counts a failure. Returns the delay in milliseconds. If the delay was computed for a wrong number of failures,
   * counts nothing, and returns the right number.
   *
   * @param text The rules, as JSON.
   * @param given The input, as JSON.
   * @param started The time at which the attempt began; `undefined` for an add by hand, which is not counted if the
   * limiter doesn't count.
   * @param minDelay The minimum delay in microseconds.
   */
  when(
    text: string,
    key: string,
    given: string,
    started: number | undefined,
    minDelay: number,
  ): { delay: number } | { failures: number } {
    const { sql, queue, now, state } = this.#tx;
    const { ignoresEarly = false, forgetAfter, counts = true } = JSON.parse(text) as FailureRules;
    const before = this.find(key);
    const failures = before?.count ?? 0;
    const endOf = (due: number) => forgetAfter === undefined ? null : Math.min(FAR, due + toMicroseconds(forgetAfter));
    if (ignoresEarly && isEarly(before, started ?? now)) {
      const due = Math.min(FAR, now + minDelay);
      if (due > before!.due!) {
        const set = "UPDATE failures SET due = ?, ends = ? WHERE queue = ? AND key = ?";
        sql.run(set, due, endOf(due), queue, key);
      }
      return { delay: Math.max(before!.due! - now, 0) / 1000 };
    }
    const [assumed, node] = JSON.parse(given) as FailureInput;
    if (assumed >= 0 && assumed !== failures) return { failures };
    const delay = delayOf(node, this.buckets);
    if (started === undefined && !counts) return { delay };
    const due = Math.min(FAR, now + Math.max(toMicroseconds(delay), minDelay));
    if (before === undefined) {
      // Removes the expired failures of this key and of two other keys, because there is no timer.
      this.forget(key);
      const old = sql.all<Row>("SELECT * FROM failures WHERE queue = ? AND ends <= ? LIMIT 2", queue, now);
      for (const each of old) this.forget(each.key);
      state.failing++;
    }
    sql.run(
      `INSERT INTO failures (queue, key, count, ends, due, since, error) VALUES (?, ?, ?, ?, ?, ?, '')
        ON CONFLICT (queue, key) DO UPDATE SET count = excluded.count, ends = excluded.ends, due = excluded.due`,
      queue,
      key,
      failures + 1,
      endOf(due),
      ignoresEarly ? due : null,
      before?.since ?? now,
    );
    return { delay };
  }

  /** Returns the row of a key's failures; `undefined` if it has none. */
  stored(key: string): Readonly<Row> | undefined {
    const row = this.#tx.state.failing === 0 ? undefined : this.#row(key);
    return row === undefined || this.#isOver(row) ? undefined : row;
  }

  /** Adds the failures that a key had in another queue. */
  restore(key: string, { count, error, sinceMs, forgottenInMs, earlyForMs }: StoredFailures): void {
    const { sql, queue, now, state } = this.#tx;
    const after = (ms: number | undefined) => ms === undefined ? null : Math.min(FAR, now + toMicroseconds(ms));
    this.forget(key);
    sql.run(
      "INSERT INTO failures (queue, key, count, ends, due, since, error) VALUES (?, ?, ?, ?, ?, ?, ?)",
      queue,
      key,
      count,
      after(forgottenInMs),
      after(earlyForMs),
      now - toMicroseconds(sinceMs),
      error,
    );
    state.failing++;
  }

  /**
   * Returns the number of failures of a key whose attempt has failed, if the key has retries left: there are fewer
   * failures, or this failure is not counted. Returns `undefined` otherwise.
   */
  ifRetriesLeft(text: string, key: string, started: number, maxRetries: number): number | undefined {
    const failure = this.find(key);
    const { count = 0 } = failure ?? {};
    const { ignoresEarly = false } = JSON.parse(text) as FailureRules;
    return count < maxRetries || ignoresEarly && isEarly(failure, started) ? count : undefined;
  }

  /** Stores the error of the latest failure of a key. */
  keepError(key: string, error: string): void {
    this.#tx.sql.run("UPDATE failures SET error = ? WHERE queue = ? AND key = ?", error, this.#tx.queue, key);
  }

  /** Returns the number of failures of a key; 0 if the limiter doesn't count. */
  requeues(text: string, key: string): number {
    const { counts = true } = JSON.parse(text) as FailureRules;
    return !counts ? 0 : this.find(key)?.count ?? 0;
  }

  /** Forgets the failures of a key. */
  forget(key: string): void {
    const { sql, queue, state } = this.#tx;
    if (state.failing === 0) return;
    state.failing -= Number(sql.run("DELETE FROM failures WHERE queue = ? AND key = ?", queue, key).changes);
  }

  /** Returns the keys with the most failures. */
  worst(count: number, offset: number): (Failure & { readonly key: string })[] {
    const { sql, queue } = this.#tx;
    return sql.all<Row>(
      "SELECT * FROM failures WHERE queue = ? ORDER BY count DESC, key LIMIT ? OFFSET ?",
      queue,
      count,
      offset,
    ).filter((row) => !this.#isOver(row)).map((row) => ({ key: row.key, ...failureOf(row) }));
  }

  #row(key: string): Row | undefined {
    return this.#tx.sql.get<Row>("SELECT * FROM failures WHERE queue = ? AND key = ?", this.#tx.queue, key);
  }

  #isOver({ ends }: Row): boolean {
    return ends !== null && ends <= this.#tx.now;
  }
}

type DelayOf<Node> = (node: Node, buckets: Buckets) => number;

/** Delays by kind of node. */
const DELAYS: { readonly [Kind in DelayKind]: DelayOf<DelayNodeOf<Kind>> } = {
  "bucket": ([, id, rate, burst], buckets) => buckets.delay({ id, rate, burst }),
  "longest": ([, ...delays], buckets) => Math.max(...delays.map((each) => delayOf(each, buckets))),
  "at-most": ([, delay, ms], buckets) => Math.min(delayOf(delay, buckets), ms),
  "times": ([, delay, factor], buckets) => delayOf(delay, buckets) * factor,
};

/** Returns a delay in milliseconds. */
function delayOf(delay: Delay, buckets: Buckets): number {
  if (typeof delay === "number") return delay;
  return (entryOf(DELAYS, PRODUCT, "delay", delay[0]) as DelayOf<DelayNode>)(delay, buckets);
}

/** Reports whether an attempt began before the retry was due. */
function isEarly(failure: Failure | undefined, started: number): boolean {
  return failure?.due !== undefined && failure.due - started > ROUNDING;
}

function failureOf({ count, due, since, error }: Row): Failure {
  return { count, due: due ?? undefined, since, error };
}
