import { Buckets } from "./buckets.ts";
import { FAR, toMicroseconds } from "./time.ts";
import type { Transaction } from "./transaction.ts";

/** Limiter in a plan: see `limiter_plan.ts`. */
type PlanNode = readonly [type: string, ...details: unknown[]];

/** Count of a limiter in a plan. */
type Counting = 0 | readonly [number, number, number?];

/** Decoded plan: the limiter, the number of counts that expire, whether all do, and how long due times are kept. */
type Plan = readonly [tree: PlanNode, passing?: number, isPassing?: number, keepsDue?: number];

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
    const [tree, passingCounts = 0, isPassing = 0, keepsDue] = JSON.parse(text) as Plan;
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
    const ask = ([type, ...details]: PlanNode): number => {
      if (type === "bucket") return 0;
      if (COUNTING.has(type)) {
        return this.#counted(details[0] as Counting, before?.count ?? 0, before?.passing ?? []);
      }
      const nodes = details.filter((detail) => Array.isArray(detail)) as unknown as PlanNode[];
      return Math.max(0, ...nodes.map(ask));
    };
    return ask((JSON.parse(text) as Plan)[0]);
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

  #ask(node: PlanNode, failure: Asked): number {
    const [type, ...details] = node;
    const { key, failures, passing, draws, groups } = failure;
    switch (type) {
      case "max-of":
        return Math.max(0, ...(details as PlanNode[]).map((each) => this.#ask(each, failure)));
      case "bucket": {
        const [id, rate, burst] = details as [string, number, number];
        return this.buckets.delay({ id: id + groups, rate, burst });
      }
      case "max-wait":
        return Math.min(this.#ask(details[0] as PlanNode, failure), details[1] as number);
      case "jitter": {
        const random = draws.shift() ?? 0;
        return this.#ask(details[0] as PlanNode, failure) * (1 - (details[1] as number) * random);
      }
      case "per-group": {
        const group = key.split(details[0] as string, 1)[0]!;
        const name = `${groups}/${group.length}:${group}`;
        return this.#ask(details[1] as PlanNode, { ...failure, groups: name });
      }
      case "named": // one limiter for all groups
        return this.#ask(details[0] as PlanNode, { ...failure, groups: "" });
    }
    const [counting, ...options] = details as [Counting, ...unknown[]];
    const count = counting !== 0 && counting[0] === 0
      ? failures * counting[1] + counting[2]!
      : this.#counted(counting, failures, passing) + 1;
    const delay = delayOf(type, options, count, draws);
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

const COUNTING: ReadonlySet<string> = new Set(["exponential", "fast-slow", "steps", "given"]);

function delayOf(type: string, options: readonly unknown[], count: number, draws: number[]): number {
  switch (type) {
    case "exponential": {
      const [baseDelay, maxDelay] = options as [number, number];
      return Math.min(baseDelay * 2 ** Math.min(count - 1, 1023), maxDelay);
    }
    case "fast-slow": {
      const [fastDelay, slowDelay, maxFastAttempts] = options as [number, number, number];
      return count <= maxFastAttempts ? fastDelay : slowDelay;
    }
    case "steps": {
      const [delays] = options as [readonly number[]];
      return delays[Math.min(count, delays.length) - 1]!;
    }
    default:
      return draws.shift() ?? 0;
  }
}

function failureOf({ count, passing, due, since, error }: Row): Failure {
  return { count, passing: passing === null ? [] : JSON.parse(passing), due: due ?? undefined, since, error };
}
