import { FOREVER, timeFor, tokensIn } from "@workqueue/core/internal/policy";
import { FAR } from "./time.ts";
import type { Transaction } from "./transaction.ts";

/** Nanoseconds in a microsecond. */
const NS = 1000;
/** Milliseconds that stand for never. */
const NEVER = FOREVER / 1e6;

/** Row of the table `buckets`. */
interface Row {
  readonly tokens: number;
  readonly last: number;
  readonly rate: number;
  readonly burst: number;
}

/** Rate in tokens per second, and burst. A negative rate stands for an infinite one, as in plans. */
export interface Bucket {
  readonly id: string;
  readonly rate: number;
  readonly burst: number;
}

/** Result of taking tokens. */
export interface TakenTokens {
  readonly taken: number;
  /** Microseconds until the next token. Missing if all tokens were taken, or no token will come. */
  readonly waitUs: number | undefined;
}

/**
 * Token buckets of one queue, in one transaction. A bucket has the rate and the burst of the latest call. If they have
 * changed, the bucket is first filled at the old rate, up to the old burst, as `setRate` and `setBurst` do.
 */
export class Buckets {
  readonly #tx: Transaction;

  constructor(tx: Transaction) {
    this.#tx = tx;
  }

  /** Takes a token, possibly one that comes later. Returns the milliseconds until the token comes. */
  delay(bucket: Bucket): number {
    const { rate, burst } = bucket;
    const { tokens, isChanged, isNew } = this.#fill(bucket);
    if (rate < 0 || burst < 1) {
      if (isChanged && !isNew) this.#store(bucket, tokens, false);
      return rate < 0 ? 0 : NEVER;
    }
    this.#store(bucket, tokens - 1, isNew);
    if (tokens >= 1) return 0;
    const wait = waitFor(1 - tokens, rate);
    return wait === undefined ? NEVER : wait / 1e6;
  }

  /** Takes up to `wanted` tokens that are there, but leaves the first `reserved` ones. */
  take(bucket: Bucket, wanted: number, reserved = 0): TakenTokens {
    const { rate, burst } = bucket;
    const { tokens, isChanged, isNew } = this.#fill(bucket);
    const taken = rate < 0 ? wanted : Math.max(0, Math.min(wanted, Math.floor(tokens) - reserved));
    const left = rate < 0 ? tokens : tokens - taken;
    if (isChanged && !isNew || rate >= 0 && taken > 0) this.#store(bucket, left, isNew);
    const wait = taken < wanted && burst > 0 ? waitFor(1 + reserved - left, rate) : undefined;
    return { taken, waitUs: wait === undefined ? undefined : Math.floor(wait / NS) + 1 };
  }

  /**
   * Gives back tokens that were taken and not used. A negative number takes tokens, possibly more than the bucket
   * contains.
   */
  giveBack(bucket: Bucket, count: number): void {
    if (bucket.rate < 0 || count === 0) return;
    const { tokens, isNew } = this.#fill(bucket);
    if (count < 0 || !isNew) this.#store(bucket, Math.min(tokens + count, bucket.burst), isNew);
  }

  #fill({ id, rate, burst }: Bucket): { tokens: number; isNew: boolean; isChanged: boolean } {
    const { sql, queue, now } = this.#tx;
    const row = sql.get<Row>("SELECT * FROM buckets WHERE queue = ? AND id = ?", queue, id);
    if (row === undefined) return { tokens: burst, isNew: true, isChanged: false };
    const came = tokensIn(Math.max(now - row.last, 0) * NS, row.rate < 0 ? Infinity : row.rate);
    const isChanged = row.rate !== rate || row.burst !== burst;
    return { tokens: Math.min(row.tokens + came, row.burst, burst), isNew: false, isChanged };
  }

  #store({ id, rate, burst }: Bucket, tokens: number, isNew: boolean): void {
    const { sql, queue, now } = this.#tx;
    const missing = burst - tokens;
    const full = rate < 0 || missing <= 0 ? now + 1 : Math.min(FAR, Math.ceil(now + missing / rate * 1e6 + 1));
    // There is no timer. Each new bucket makes room for itself.
    if (isNew) {
      sql.run(
        "DELETE FROM buckets WHERE queue = ? AND id IN (SELECT id FROM buckets WHERE queue = ? AND full <= ? LIMIT 2)",
        queue,
        queue,
        now,
      );
    }
    sql.run(
      "INSERT OR REPLACE INTO buckets (queue, id, tokens, last, rate, burst, full) VALUES (?, ?, ?, ?, ?, ?, ?)",
      queue,
      id,
      tokens,
      now,
      rate,
      burst,
      full,
    );
  }
}

/** Returns the nanoseconds until this many tokens have come; `undefined` if they never come. */
function waitFor(tokens: number, rate: number): number | undefined {
  const time = timeFor(tokens, rate);
  return time < FOREVER / 2 ? time : undefined;
}
