import type { GiveUpReason } from "@workqueue/core";
import type { Connection, Retry } from "./connection/connection.ts";
import type { BucketPlan, LimiterPlan } from "./limiter_plan.ts";
import { type ArgumentsOf, type ReplyOf, type RowOf, SCRIPTS, type Scripts } from "./scripts/script.ts";
import type { FinishKind } from "./scripts/turn.ts";

export type { FinishAnswer } from "./scripts/turn.ts";

/** Settings that all calls of a queue share. */
export interface EngineSettings {
  readonly name: string;
  /** In milliseconds. */
  readonly leaseDuration: number;
  readonly maxStalls: number;
  /** Whether an add ends the delay of its key (`addWhileDelayed: "replace"`). */
  readonly replaces: boolean;
  /** Whether items are sent as JSON beside their keys, as in a queue with `keyOf`. */
  readonly hasItems: boolean;
  readonly limiter: LimiterPlan;
  /**
   * Whether calls return how long the taken keys had been ready.
   *
   * @default {false}
   */
  readonly measuresTimes?: boolean;
}

/** Key, with its item as JSON in a queue with `keyOf`, and an empty payload otherwise. */
export interface Entry {
  readonly key: string;
  readonly payload: string;
}

/** End of the work on a key, in the form that the script reads. */
export interface Finish {
  readonly key: string;
  readonly token: string;
  readonly kind: FinishKind;
  /** Milliseconds: the delay of `requeueAfter`, or the shortest delay of `retry`. */
  readonly delay?: number;
  /** Limiter plan of `retry`; by default the plan of the queue. */
  readonly plan?: string;
  /** Input of the plan of `retry`, made by `LimiterPlan.given`. */
  readonly given?: string;
  /** Error text of `givenUp`. Error text of `retry`, in one line; empty without an error. */
  readonly reason?: string;
  /** Reason code of `givenUp`. */
  readonly why?: GiveUpReason;
}

export interface TurnRequest {
  readonly process: string;
  readonly owner: string;
  /** Leases that the owner believes it has, minus those finished in this call. */
  readonly known: number;
  readonly wanted: number;
  readonly throttle: BucketPlan | undefined;
  /** Finishes. All that have a plan have the same plan. */
  readonly finishes: readonly Finish[];
}

export type TurnReply = ReplyOf<"turn">;
export type TakenKey = TurnReply["taken"][number];
export type GivenUpKey = TurnReply["givenUp"][number];
export type Counts = ReplyOf<"counts">;
export type Snapshot = ReplyOf<"snapshot">;

/** Entries added by one call. */
interface Adds {
  readonly delay: number;
  readonly entries: Entry[];
  readonly done: Promise<unknown>;
  /** Settles `done` with the result of the call. */
  send(call: Promise<unknown>): void;
}

/** Most keys that one call adds. During a call, the server does nothing else. */
const MAX_ENTRIES = 200;

/** Calls of one queue: writes the arguments of its scripts and reads their replies. Knows neither leases nor timers. */
export class Engine {
  readonly settings: Omit<EngineSettings, "limiter">;
  /** Current limiter of the queue. A reload replaces it. */
  limiter: LimiterPlan;
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

  /** Returns the channel of a process, for messages that there may be work. */
  channelOf(process: string): string {
    return `workqueue:{${this.settings.name}}:wake:${process}`;
  }

  /**
   * Adds entries after a delay in milliseconds. Adds of one turn of the event loop go into one call, unless their
   * delays differ or another call is made in between.
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
   * Adds an entry after the limiter's delay. Resolves to `undefined` if the entry was added. Otherwise nothing
   * happened, and the result is the number of failures for which `given` must be made.
   */
  addRateLimited(entry: Entry, isNewest: boolean, given: string, minDelay: number): Promise<number | undefined> {
    const { replaces, hasItems } = this.settings;
    const { key } = entry;
    const payload = hasItems ? entry.payload : undefined;
    const plan = this.limiter.text;
    return this.#run("addRateLimited", { key, payload, isNewest, replaces, plan, given, minDelayMs: minDelay });
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

  pause(): Promise<void> {
    return this.#run("pause", {});
  }

  resume(): Promise<void> {
    return this.#run("resume", {});
  }

  turn({ process, owner, known, wanted, throttle, finishes }: TurnRequest): Promise<TurnReply> {
    const { leaseDuration, replaces, hasItems, maxStalls, measuresTimes = false } = this.settings;
    const [bucketId, rate, burst] = throttle ?? [];
    const plan = finishes.find(({ plan }) => plan !== undefined)?.plan ?? this.limiter.text;
    return this.#run("turn", {
      process,
      owner,
      leaseMs: leaseDuration,
      replaces,
      hasItems,
      maxStalls,
      known,
      wanted,
      bucketId,
      bucketRate: rate === undefined ? undefined : Number(rate),
      bucketBurst: burst === undefined ? undefined : Number(burst),
      plan,
      wantsTimes: measuresTimes,
    }, finishes.map(rowOf));
  }

  /** Renews the lease on all keys of an owner. Resolves to whether the owner still had its lease. */
  renew(owner: string): Promise<boolean> {
    return this.#run("renew", { owner, leaseMs: this.settings.leaseDuration });
  }

  /**
   * Hands back keys that an owner has on the server without knowing their tokens. Keys that were handed out after the
   * first call stay, because the reply that brings them is still to come. Resolves to the known tokens that the owner
   * does not have on the server.
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

  /** Resolves to the server's policy for deleting keys when its memory is full; `undefined` if it is unknown. */
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
    const { replaces, hasItems } = this.settings;
    send(this.#run(hasItems ? "addItems" : "add", { delayMs: delay, replaces }, entries));
  }

  async #run<N extends keyof Scripts>(name: N, ...args: ArgumentsOf<N>): Promise<ReplyOf<N>> {
    this.#sendAdds(); // keeps calls in order
    const { retry, write, read } = SCRIPTS[name] as unknown as AnyScript;
    const sent = await this.#connection.run(this.#scripts[name], this.#key, write(...args), { retry });
    return read(sent) as ReplyOf<N>;
  }
}

/** Script without its types. */
interface AnyScript {
  readonly retry: Retry;
  write(...args: unknown[]): string[];
  read(sent: unknown): unknown;
}

function rowOf({ key, token, kind, delay = 0, given = "", reason = "", why }: Finish): RowOf<"turn"> {
  return { key, token, kind, delayMs: delay, given: why ?? given, reason };
}
