import { withCode } from "@workqueue/core/internal";
import {
  type Counting,
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
  /** Counts that expire, each followed by the time when it does. */
  readonly passing: readonly number[];
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
  readonly passing: string | null;
  readonly due: number | null;
  readonly since: number;
  readonly error: string;
}

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
   * @param started The time at which the attempt began.
   * @param minDelay The minimum delay in microseconds.
   */
  when(
    text: string,
    key: string,
    given: string,
    started: number,
    minDelay: number,
  ): { delay: number } | { failures: number } {
    const { sql, queue, now, state } = this.#tx;
    const [tree, passingCounts = 0, isPassing = 0, keepsDue] = JSON.parse(text) as LimiterTree;
    const before = this.find(key);
    const failures = before?.count ?? 0;
    if (keepsDue !== undefined && before?.due !== undefined && started < before.due) {
      return { delay: Math.max(before.due - now, 0) / 1000 };
    }
    const [assumed, ...draws] = given === "" ? [-1] : JSON.parse(given) as number[];
    if (assumed! >= 0 && assumed !== failures) return { failures };
    const passing = [...before?.passing ?? []];
    const delay = this.#ask(tree, { key, failures, passing, draws, groups: "" });
    const due = keepsDue === undefined ? undefined : Math.min(FAR, now + Math.max(toMicroseconds(delay), minDelay));
    let last = due === undefined ? 0 : Math.min(FAR, due + keepsDue! * 1000);
    for (let i = 1; i < 2 * passingCounts; i += 2) last = Math.max(last, passing[i] ?? 0);
    if (before === undefined) {
      // Removes what is left of failures of this key that have expired, and of two other keys: there is no timer.
      this.forget(key);
      const old = sql.all<Row>("SELECT * FROM failures WHERE queue = ? AND ends <= ? LIMIT 2", queue, now);
      for (const each of old) this.forget(each.key);
      state.failing++;
    }
    sql.run(
      `INSERT INTO failures (queue, key, count, ends, passing, due, since, error) VALUES (?, ?, ?, ?, ?, ?, ?, '')
        ON CONFLICT (queue, key) DO UPDATE SET count = excluded.count, ends = excluded.ends,
          passing = excluded.passing, due = excluded.due`,
      queue,
      key,
      failures + 1,
      isPassing === 1 ? Math.ceil(last) : null,
      passingCounts === 0 ? null : JSON.stringify(passing.slice(0, 2 * passingCounts)),
      due ?? null,
      before?.since ?? now,
    );
    return { delay };
  }

  /** Stores the error of the latest failure of a key. */
  keepError(key: string, error: string): void {
    this.#tx.sql.run("UPDATE failures SET error = ? WHERE queue = ? AND key = ?", error, this.#tx.queue, key);
  }

  /** Returns the number of failures that a limiter has counted for a key. */
  requeues(text: string, key: string): number {
    const before = this.find(key);
    const ask = (node: LimiterNode): number => {
      if (counts(node)) return this.#counted(node[1], before?.count ?? 0, before?.passing ?? []);
      entryOf(OTHERS, PRODUCT, "limiter", node[0]);
      const nodes = node.filter((detail) => Array.isArray(detail)) as unknown as LimiterNode[];
      return Math.max(0, ...nodes.map(ask));
    };
    return ask((JSON.parse(text) as LimiterTree)[0]);
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

  /** Returns the number of failures that a limiter has counted. One that is asked several times counts each time. */
  #counted(counting: Counting, failures: number, passing: readonly number[]): number {
    if (counting === 0) return failures;
    const [index, times] = counting;
    if (index === 0) return failures * times;
    const [count, ends] = passing.slice(2 * index - 2, 2 * index);
    if (ends === undefined) return failures; // counted before the limiter had a forgetAfter
    return ends > this.#tx.now ? count! : 0;
  }

  /** Returns the delay of a limiter. */
  #ask(node: LimiterNode, failure: Asked): number {
    if (!counts(node)) {
      const delayOf = entryOf(OTHERS, PRODUCT, "limiter", node[0]) as DelayOf<OtherNode>;
      const delay = (inner: LimiterNode, groups = failure.groups) => this.#ask(inner, { ...failure, groups });
      return delayOf(node, { ...failure, delay, buckets: this.buckets });
    }
    const { failures, passing, draws } = failure;
    const counting = node[1];
    const count = counting !== 0 && counting[0] === 0
      ? failures * counting[1] + counting[2]!
      : this.#counted(counting, failures, passing) + 1;
    const delay = (COUNTING[node[0]] as DelayAfter<CountingNode>)(node, count, draws);
    if (counting !== 0 && counting[0] > 0) {
      const at = 2 * counting[0] - 2;
      passing[at] = count;
      passing[at + 1] = Math.min(FAR, this.#tx.now + (delay + counting[1]) * 1000);
    }
    return delay;
  }
}

/** Failure for which limiters are asked. */
interface Asked {
  readonly key: string;
  /** Number of earlier failures. */
  readonly failures: number;
  readonly passing: number[];
  readonly draws: number[];
  /** End of the names of buckets, because each group has its own. */
  readonly groups: string;
}

/** Failure for which a limiter that doesn't count failures itself is asked. */
interface Asking extends Asked {
  readonly buckets: Buckets;
  /** Returns the delay of an inner limiter. */
  delay(inner: LimiterNode, groups?: string): number;
}

type DelayAfter<Node> = (node: Node, count: number, draws: number[]) => number;
type DelayOf<Node> = (node: Node, asking: Asking) => number;

/** Delays after a number of failures, by kind of limiter. */
const COUNTING: { readonly [Kind in CountingNode[0]]: DelayAfter<LimiterNodeOf<Kind>> } = {
  "exponential": ([, , baseDelay, maxDelay], count) => Math.min(baseDelay * 2 ** Math.min(count - 1, 1023), maxDelay),
  "fast-slow": ([, , fastDelay, slowDelay, maxFastAttempts], count) => count <= maxFastAttempts ? fastDelay : slowDelay,
  "steps": ([, , delays], count) => delays[Math.min(count, delays.length) - 1]!,
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

function counts(node: LimiterNode): node is CountingNode {
  return Object.hasOwn(COUNTING, node[0]);
}

function failureOf({ count, passing, due, since, error }: Row): Failure {
  return { count, passing: passing === null ? [] : JSON.parse(passing), due: due ?? undefined, since, error };
}
