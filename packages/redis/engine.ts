import type { GiveUpReason } from "@workqueue/core";
import type { Connection, Retry } from "./connection/connection.ts";
import type { BucketPlan, LimiterPlan } from "./limiter_plan.ts";
import { type ArgumentsOf, type ReplyOf, type RowOf, SCRIPTS, type Scripts } from "./scripts/script.ts";
import type { FinishKind } from "./scripts/turn.ts";

export type { FinishAnswer } from "./scripts/turn.ts";

/** What the calls of a queue have in common. */
export interface EngineSettings {
  readonly name: string;
  /** In milliseconds. */
  readonly leaseDuration: number;
  readonly maxStalls: number;
  /** Whether a key that is ready does not wait as well. */
  readonly replaces: boolean;
  /** Whether items travel beside their keys. */
  readonly hasItems: boolean;
  readonly limiter: LimiterPlan;
  /** Whether it is asked for how long keys have been ready; not if left out. */
  readonly measuresTimes?: boolean;
}

/** A key, and its item as JSON where an item is not its own key. */
export interface Entry {
  readonly key: string;
  readonly payload: string;
}

/** How the work on a key has ended, as the script knows it. */
export interface Finish {
  readonly key: string;
  readonly token: string;
  readonly kind: FinishKind;
  /** In milliseconds: of `requeueAfter`, and at least of `retry`. */
  readonly delay?: number;
  /** Of `retry`: the limiter's plan, that of the queue if it is left out, and what it is given. */
  readonly plan?: string;
  readonly given?: string;
  /** The error: of `givenUp`; and of `retry`, in one line, where there was one. */
  readonly reason?: string;
  /** Of `givenUp`. */
  readonly why?: GiveUpReason;
}

export interface TurnRequest {
  readonly process: string;
  readonly owner: string;
  /** How many leases the owner has, those that are finished here left out. */
  readonly known: number;
  readonly wanted: number;
  readonly throttle: BucketPlan | undefined;
  /** Those with a plan have the same. */
  readonly finishes: readonly Finish[];
}

export type TurnReply = ReplyOf<"turn">;
export type TakenKey = TurnReply["taken"][number];
export type GivenUpKey = TurnReply["givenUp"][number];
export type Counts = ReplyOf<"counts">;
export type Snapshot = ReplyOf<"snapshot">;

/** Entries that are added by one call. */
interface Adds {
  readonly delay: number;
  readonly entries: Entry[];
  readonly done: Promise<unknown>;
  /** Ends `done` as the call ends. */
  send(call: Promise<unknown>): void;
}

/** The most that one call adds: the server does nothing else meanwhile. */
const MAX_ENTRIES = 200;

/** The calls of one queue: what goes into the scripts, and what they reply. It knows no leases and no timers. */
export class Engine {
  readonly settings: Omit<EngineSettings, "limiter">;
  /** The limiter that the queue has now. */
  limiter: LimiterPlan;
  readonly #connection: Connection;
  readonly #scripts: Scripts;
  readonly #key: string;
  /** What is to be added by the next call. */
  #adds: Adds | undefined = undefined;

  constructor(connection: Connection, scripts: Scripts, settings: EngineSettings) {
    this.#connection = connection;
    this.#scripts = scripts;
    this.settings = settings;
    this.limiter = settings.limiter;
    this.#key = `workqueue:{${settings.name}}:meta`;
  }

  /** Where a process is told that there may be work. */
  channelOf(process: string): string {
    return `workqueue:{${this.settings.name}}:wake:${process}`;
  }

  /** What is added in one turn of the event loop goes into one call, unless another call is made in between. */
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
   * Returns nothing, or the number of failures that the limiter should have been given something for: nothing was added
   * then.
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

  /** Renews the lease of all that an owner holds. Returns whether there was anything to renew. */
  renew(owner: string): Promise<boolean> {
    return this.#run("renew", { owner, leaseMs: this.settings.leaseDuration });
  }

  /**
   * Gives back keys that an owner holds without knowing their tokens. What is handed out after the first call stays:
   * its reply is still to come. Returns the known tokens that the owner does not hold.
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

  /** By which policy the server deletes keys when its memory is full; `undefined` if it doesn't say. */
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
    this.#sendAdds(); // calls are made in their order
    const { retry, write, read } = SCRIPTS[name] as unknown as AnyScript;
    const sent = await this.#connection.run(this.#scripts[name], this.#key, write(...args), { retry });
    return read(sent) as ReplyOf<N>;
  }
}

/** A script whose types are not looked at. */
interface AnyScript {
  readonly retry: Retry;
  write(...args: unknown[]): string[];
  read(sent: unknown): unknown;
}

function rowOf({ key, token, kind, delay = 0, given = "", reason = "", why }: Finish): RowOf<"turn"> {
  return { key, token, kind, delayMs: delay, given: why ?? given, reason };
}
