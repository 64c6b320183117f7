import { withCode } from "@workqueue/core/internal";
import {
  type CountingNode,
  entryOf,
  type LimiterKind,
  type LimiterNode,
  type LimiterNodeOf,
  type LimiterTree,
  type OtherNode,
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
 * Failures of the keys of one queue, in one transaction, and the delays that limiters give for them. Each call has the
 * limiter as a plan, so a changed limiter takes effect immediately. Each limiter gives the same delay as the in-memory
 * limiter of its type.
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
   * Counts a failure. Returns the delay in milliseconds. If `given` was computed for a wrong number of failures, counts
   * nothing, and returns the right number.
   *
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
    const [tree, rules = {}] = JSON.parse(text) as LimiterTree;
    const { ignoresEarly = false, forgetAfter, counts = true } = rules;
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
    const [assumed, ...draws] = given === "" ? [-1] : JSON.parse(given) as number[];
    if (assumed! >= 0 && assumed !== failures) return { failures };
    const delay = this.#ask(tree, { key, count: failures + 1, draws, groups: "" });
    if (started === undefined && !counts) return { delay };
    const due = Math.min(FAR, now + Math.max(toMicroseconds(delay), minDelay));
    if (before === undefined) {
      // Removes what is left of failures of this key that have expired, and of two other keys: there is no timer.
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

  /**
   * Returns the number of failures of a key whose attempt has failed, if the key has retries left: there are fewer
   * failures, or this failure is not counted. Returns `undefined` otherwise.
   */
  ifRetriesLeft(text: string, key: string, started: number, maxRetries: number): number | undefined {
    const failure = this.find(key);
    const { count = 0 } = failure ?? {};
    const [, { ignoresEarly = false } = {}] = JSON.parse(text) as LimiterTree;
    return count < maxRetries || ignoresEarly && isEarly(failure, started) ? count : undefined;
  }

  /** Stores the error of the latest failure of a key. */
  keepError(key: string, error: string): void {
    this.#tx.sql.run("UPDATE failures SET error = ? WHERE queue = ? AND key = ?", error, this.#tx.queue, key);
  }

  /** Returns the number of failures of a key; 0 if the limiter doesn't count. */
  requeues(text: string, key: string): number {
    const [tree, rules = {}] = JSON.parse(text) as LimiterTree;
    requireKnown(tree);
    return rules.counts === false ? 0 : this.find(key)?.count ?? 0;
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

  /** Returns the delay of a limiter. */
  #ask(node: LimiterNode, failure: Asked): number {
    if (isCounting(node)) return (COUNTING[node[0]] as DelayAfter<CountingNode>)(node, failure.count, failure.draws);
    const delayOf = entryOf(OTHERS, PRODUCT, "limiter", node[0]) as DelayOf<OtherNode>;
    const delay = (inner: LimiterNode, groups = failure.groups) => this.#ask(inner, { ...failure, groups });
    return delayOf(node, { ...failure, delay, buckets: this.buckets });
  }
}

/** Failure for which limiters are asked. */
interface Asked {
  readonly key: string;
  /** Number of failures, this one included. */
  readonly count: number;
  readonly draws: number[];
  /** End of the names of buckets, because each group has its own. */
  readonly groups: string;
}

/** Failure for which a limiter is asked whose delay does not depend on the number of failures itself. */
interface Asking extends Asked {
  readonly buckets: Buckets;
  /** Returns the delay of an inner limiter. */
  delay(inner: LimiterNode, groups?: string): number;
}

type DelayAfter<Node> = (node: Node, count: number, draws: number[]) => number;
type DelayOf<Node> = (node: Node, asking: Asking) => number;

/** Delays after a number of failures, by kind of limiter. */
const COUNTING: { readonly [Kind in CountingNode[0]]: DelayAfter<LimiterNodeOf<Kind>> } = {
  "exponential": ([, baseDelay, maxDelay], count) => Math.min(baseDelay * 2 ** Math.min(count - 1, 1023), maxDelay),
  "fast-slow": ([, fastDelay, slowDelay, maxFastAttempts], count) => count <= maxFastAttempts ? fastDelay : slowDelay,
  "steps": ([, delays], count) => delays[Math.min(count, delays.length) - 1]!,
  "given": (_, __, draws) => nextOf(draws),
};

/** Delays of the other limiters, by kind. */
const OTHERS: { readonly [Kind in OtherNode[0]]: DelayOf<LimiterNodeOf<Kind>> } = {
  "max-of": ([, ...limiters], { delay }) => Math.max(0, ...limiters.map((each) => delay(each))),
  "bucket": ([, id, rate, burst], { buckets, groups }) => buckets.delay({ id: id + groups, rate, burst }),
  "max-wait": ([, limiter, maxDelay], { delay }) => Math.min(delay(limiter), maxDelay),
  "jitter": ([, limiter, spread], { delay, draws }) => {
    const random = nextOf(draws);
    return delay(limiter) * (1 - spread * random);
  },
  "per-group": ([, separator, limiter], { key, groups, delay }) => {
    const group = key.split(separator, 1)[0]!;
    return delay(limiter, `${groups}/${group.length}:${group}`);
  },
  "named": ([, limiter], { delay }) => delay(limiter, ""), // one limiter for all groups
};

/** Kinds of limiters that this engine evaluates. */
export const LIMITERS: Readonly<Record<LimiterKind, unknown>> = { ...COUNTING, ...OTHERS };

/** Takes the next number that the process has computed for a limiter. */
function nextOf(draws: number[]): number {
  const number = draws.shift();
  if (number === undefined) throw withCode("WQ_LIMITER", new TypeError("The input of the limiter has too few numbers"));
  return number;
}

function isCounting(node: LimiterNode): node is CountingNode {
  return Object.hasOwn(COUNTING, node[0]);
}

/** Refuses a limiter of an unknown kind by name, also inside another. */
function requireKnown(node: LimiterNode): void {
  if (isCounting(node)) return;
  entryOf(OTHERS, PRODUCT, "limiter", node[0]);
  for (const detail of node as readonly unknown[]) if (Array.isArray(detail)) requireKnown(detail as never);
}

/** Reports whether an attempt began before the retry was due. */
function isEarly(failure: Failure | undefined, started: number): boolean {
  return failure?.due !== undefined && failure.due - started > ROUNDING;
}

function failureOf({ count, due, since, error }: Row): Failure {
  return { count, due: due ?? undefined, since, error };
}
