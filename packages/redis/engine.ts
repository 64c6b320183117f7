import type { GiveUpReason } from "@workqueue/core";
import type { Connection, Retry } from "./connection/connection.ts";
import type { BucketPlan, LimiterPlan } from "./limiter_plan.ts";
import { type ArgumentsOf, type ReplyOf, type RowOf, SCRIPTS, type Scripts } from "./scripts/script.ts";
import type { FinishKind } from "./scripts/turn.ts";

export type { FinishAnswer } from "./scripts/turn.ts";

/** Settings of a queue that apply to all of its calls. */
export interface EngineSettings {
  readonly name: string;
  /** Duration of a lease in milliseconds. */
  readonly leaseDuration: number;
  readonly maxStalls: number;
  /** Whether adding a delayed key ends its delay (`addWhileDelayed: "replace"` or `"fold"`). */
  readonly replaces: boolean;
  /** Whether adding a key that failed and is delayed does not end its delay (`addWhileDelayed: "fold"`). */
  readonly folds: boolean;
  /** Whether items are sent as JSON in addition to their keys, as in a queue with `keyOf`. */
  readonly hasItems: boolean;
  readonly limiter: LimiterPlan;
}

/**
 * Key and payload of an item. In a queue with `keyOf`, the payload is the item as JSON. Otherwise, the payload is
 * empty.
 */
export interface Entry {
  readonly key: string;
  readonly payload: string;
}

/** Outcome of the work on a key, in the form that the `turn` script reads. */
export interface Finish {
  readonly key: string;
  readonly token: string;
  readonly kind: FinishKind;
  /** Delay of `requeueAfter`, or shortest delay of `retry` and `failed`, in milliseconds. */
  readonly delay?: number;
  /** Limiter plan for `retry` and `failed`. By default, the queue's plan. */
  readonly plan?: string;
  /** Input to the limiter plan for `retry` and `failed`, created by `LimiterPlan.given`. */
  readonly given?: string;
  /** Error text of `givenUp`, or one-line error text of `retry` and `failed`. Empty if there was no error. */
  readonly reason?: string;
  /** Reason code of `givenUp`. */
  readonly why?: GiveUpReason;
}

export interface TurnRequest {
  readonly process: string;
  readonly owner: string;
  /**
   * Number of leases that the owner believes it has, not counting leases that are finished in this call or in another
   * call that is still running.
   */
  readonly known: number;
  readonly wanted: number;
  readonly throttle: BucketPlan | undefined;
  /** List of finishes to report. Every finish that has a plan has the same plan. */
  readonly finishes: readonly Finish[];
}

export type TurnReply = ReplyOf<"turn">;
export type TakenKey = TurnReply["taken"][number];
export type GivenUpKey = TurnReply["givenUp"][number];
export type Counts = ReplyOf<"counts">;
export type Snapshot = ReplyOf<"snapshot">;

/** Entries that one call adds. */
interface Adds {
  readonly delay: number;
  readonly entries: Entry[];
  readonly done: Promise<unknown>;
  /** Settles `done` with the result of the call. */
  send(call: Promise<unknown>): void;
}

/** Maximum number of keys that one call adds. The server does nothing else during a call. */
const MAX_ENTRIES = 200;

/**
 * Calls from one queue to the server. Encodes script arguments and decodes replies. Doesn't handle leases or timers.
 */
export class Engine {
  readonly settings: Omit<EngineSettings, "limiter">;
  /** Current limiter of the queue. A reload replaces the limiter. */
  limiter: LimiterPlan;
  /** Whether replies include how long each taken key had been ready. */
  measuresTimes = false;
  readonly #connection: Connection;
  readonly #scripts: Scripts;
  readonly #key: string;
  /** Entries that the next call adds. */
  #adds: Adds | undefined = undefined;

  constructor(connection: Connection, scripts: Scripts, settings: EngineSettings) {
    this.#connection = connection;
    this.#scripts = scripts;
    this.settings = settings;
    this.limiter = settings.limiter;
    this.#key = `workqueue:{${settings.name}}:meta`;
  }

  /** Returns the name of the channel on which a process is notified that there may be work. */
  channelOf(process: string): string {
    return `workqueue:{${this.settings.name}}:wake:${process}`;
  }

  /**
   * Adds entries after a delay in milliseconds. Entries added in one turn of the event loop are sent in one call,
   * unless their delays differ or another call is made in between.
   */
  async add(entries: readonly Entry[], delay = 0): Promise<void> {
    for (let from = 0; from < entries.length; from += MAX_ENTRIES) {
      const some = entries.slice(from, from + MAX_ENTRIES);
      const hasRoom = this.#adds?.delay === delay && this.#adds.entries.length + some.length <= MAX_ENTRIES;
      const adds = hasRoom ? this.#adds! : this.#gather(delay);
      adds.entries.push(...some);
      await adds.done;
    }
  }

  /**
   * Adds an entry after the limiter's delay. Resolves to `undefined` if the entry was added. Otherwise nothing was
   * changed, and the promise resolves to the number of failures for which `given` must be computed.
   */
  addRateLimited(entry: Entry, isNewest: boolean, given: string, minDelay: number): Promise<number | undefined> {
    const { replaces, folds, hasItems } = this.settings;
    const { key } = entry;
    const payload = hasItems ? entry.payload : undefined;
    const plan = this.limiter.text;
    return this.#run("addRateLimited", { key, payload, isNewest, replaces, folds, plan, given, minDelayMs: minDelay });
  }

  cancelDelayed(key: string): Promise<boolean> {
    return this.#run("cancelDelayed", { key });
  }

  promoteDelayed(key: string): Promise<boolean> {
    return this.#run("promoteDelayed", { key });
  }

  forget(key: string): Promise<void> {
    return this.#run("forget", { key });
  }

  numRequeues(key: string): Promise<number> {
    return this.#run("numRequeues", { key, plan: this.limiter.text });
  }

  pause(): Promise<number> {
    return this.#run("pause", {});
  }

  resume(pause?: number): Promise<void> {
    return this.#run("resume", { pause });
  }

  turn({ process, owner, known, wanted, throttle, finishes }: TurnRequest): Promise<TurnReply> {
    const { leaseDuration, replaces, folds, hasItems, maxStalls } = this.settings;
    const [bucketId, rate, burst] = throttle ?? [];
    const plan = finishes.find(({ plan }) => plan !== undefined)?.plan ?? this.limiter.text;
    return this.#run("turn", {
      process,
      owner,
      leaseMs: leaseDuration,
      replaces,
      folds,
      hasItems,
      maxStalls,
      known,
      wanted,
      bucketId,
      bucketRate: rate === undefined ? undefined : Number(rate),
      bucketBurst: burst === undefined ? undefined : Number(burst),
      plan,
      wantsTimes: this.measuresTimes,
    }, finishes.map(rowOf));
  }

  /** Renews an owner's lease, which covers all of its keys. Resolves to whether the owner still had the lease. */
  renew(owner: string): Promise<boolean> {
    return this.#run("renew", { owner, leaseMs: this.settings.leaseDuration });
  }

  /**
   * Hands back keys that the server has assigned to an owner and whose tokens are not in `known`. This may take several
   * calls. Keys that were handed out after the first of them are kept, because the reply with their tokens is still on
   * its way. Resolves to the tokens in `known` that the server does not have for the owner.
   */
  async release(owner: string, known: readonly string[]): Promise<string[]> {
    const seen = new Set<string>();
    const tokens = known.map((token) => ({ token }));
    let reply: Pick<ReplyOf<"release">, "cursor" | "final"> | undefined;
    do {
      const next = await this.#run("release", { owner, cursor: reply?.cursor ?? "0", final: reply?.final }, tokens);
      for (const token of next.seen) seen.add(token);
      reply = next;
    } while (reply.cursor !== "0");
    return known.filter((token) => !seen.has(token));
  }

  async leave(process: string, owner: string): Promise<void> {
    while (await this.#run("leave", { process, owner }));
  }

  /** Resolves to the server's `maxmemory-policy`, or to `undefined` if the policy is unknown. */
  evictionPolicy(): Promise<string | undefined> {
    return this.#run("evictionPolicy", {});
  }

  counts(): Promise<Counts> {
    return this.#run("counts", {});
  }

  snapshot(limit: number): Promise<Snapshot> {
    return this.#run("snapshot", { limit, hasItems: this.settings.hasItems });
  }

  #gather(delay: number): Adds {
    this.#sendAdds();
    let send!: Adds["send"];
    const done = new Promise<unknown>((resolve) => send = resolve);
    const adds = this.#adds = { delay, entries: [], done, send };
    Promise.resolve().then(() => this.#adds === adds && this.#sendAdds());
    return adds;
  }

  #sendAdds(): void {
    if (this.#adds === undefined) return;
    const { delay, entries, send } = this.#adds;
    this.#adds = undefined;
    const { replaces, folds, hasItems } = this.settings;
    send(this.#run(hasItems ? "addItems" : "add", { delayMs: delay, replaces, folds }, entries));
  }

  async #run<N extends keyof Scripts>(name: N, ...args: ArgumentsOf<N>): Promise<ReplyOf<N>> {
    this.#sendAdds(); // keeps calls in order
    const { retry, write, read } = SCRIPTS[name] as unknown as AnyScript;
    const sent = await this.#connection.run(this.#scripts[name], this.#key, write(...args), { retry });
    return read(sent) as ReplyOf<N>;
  }
}

/** Script without the types of its arguments and reply. */
interface AnyScript {
  readonly retry: Retry;
  write(...args: unknown[]): string[];
  read(sent: unknown): unknown;
}

function rowOf({ key, token, kind, delay = 0, given = "", reason = "", why }: Finish): RowOf<"turn"> {
  return { key, token, kind, delayMs: delay, given: why ?? given, reason };
}
