import type { Connection, Retry } from "./connection/connection.ts";
import type { BucketPlan, LimiterPlan } from "./limiter_plan.ts";
import type { Scripts } from "./scripts/script.ts";

/** What the calls of a queue have in common. */
export interface EngineSettings {
  readonly name: string;
  /** In milliseconds. */
  readonly lease: number;
  readonly maxLapses: number;
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
  readonly kind: "done" | "succeeded" | "requeueAfter" | "retry" | "handedBack" | "givenUp";
  /** In milliseconds: of `requeueAfter`, and at least of `retry`. */
  readonly delay?: number;
  /** Of `retry`: the limiter's plan, that of the queue if it is left out, and what it is given. */
  readonly plan?: string;
  readonly given?: string;
  /** Of `givenUp`; and of `retry`, in one line, where there was an error. */
  readonly reason?: string;
}

export interface TurnRequest {
  readonly process: string;
  readonly owner: string;
  /** How many leases the owner has, those that are finished here left out. */
  readonly known: number;
  readonly wanted: number;
  readonly starts: BucketPlan | undefined;
  /** Those with a plan have the same. */
  readonly finishes: readonly Finish[];
}

export interface TakenKey {
  readonly key: string;
  readonly token: string;
  readonly payload: string | undefined;
  readonly failures: number;
  /** For how many milliseconds it has been ready; 0 if that was not asked. */
  readonly readyFor: number;
}

/** `true`: it counts. `false`: the lease was lost. A number: the failures that the limiter should have been given something for. */
export type FinishAnswer = boolean | number;

export interface TurnReply {
  /** In how many milliseconds there may be more; `undefined` if only an add can bring it. */
  readonly pause: number | undefined;
  /** Whether all that the owner held was taken away. */
  readonly isLost: boolean;
  /** Whether nothing may be taken beside what is held. */
  readonly isAlone: boolean;
  readonly answers: FinishAnswer[];
  readonly taken: TakenKey[];
  /** What was given up, as each of its holders was lost. */
  readonly lapsed: string[];
}

export interface Stats {
  ready: number;
  waiting: number;
  held: number;
  failing: number;
  givenUp: number;
}

/** What is measured of the whole queue. */
export interface Measures {
  readonly ready: number;
  readonly waiting: number;
  /** For how many milliseconds the oldest of the ready keys has been ready; 0 if there is none. */
  readonly oldestReady: number;
}

export interface Contents {
  readonly ready: number;
  readonly waiting: number;
  readonly held: number;
  readonly readyEntries: Entry[];
  readonly waitingEntries: (Entry & { readonly dueIn: number })[];
  readonly heldEntries: (Entry & { readonly addedAgain: boolean })[];
}

/** What is in the queue, and how it is. */
export interface Details extends Contents {
  readonly isPaused: boolean;
  readonly failing: number;
  readonly givenUp: number;
  /** For how many milliseconds the oldest of the ready keys has been ready; 0 if there is none. */
  readonly oldestReady: number;
  /** Since there is a queue. */
  readonly totals: { readonly handedOut: number; readonly failed: number; readonly givenUp: number };
  /** `dueIn` is `undefined` if the key does not wait. */
  readonly failingEntries: (Entry & {
    readonly attempts: number;
    readonly error: string;
    readonly dueIn: number | undefined;
  })[];
}

/** Entries that are added by one call. */
interface Adds {
  readonly delay: number;
  readonly entries: Entry[];
  readonly done: Promise<unknown>;
  /** Ends `done` as the call ends. */
  send(call: Promise<unknown>): void;
}

/** The most that one call adds: the server does nothing else meanwhile. */
const MAX_ENTRIES = 500;

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

  /** Returns nothing, or the number of failures that the limiter should have been given something for: nothing was added then. */
  async addRateLimited(entry: Entry, isNewest: boolean, given: string, atLeast: number): Promise<number | undefined> {
    const { replaces, hasItems } = this.settings;
    const payload = hasItems ? entry.payload : "";
    const args = [entry.key, payload, flag(isNewest), flag(replaces), this.limiter.text, given, micros(atLeast)];
    const failures = await this.#run("addRateLimited", args, "never") as number | null;
    return failures ?? undefined;
  }

  async cancelAfter(key: string): Promise<boolean> {
    return await this.#run("cancelAfter", [key]) === 1;
  }

  async retryNow(key: string): Promise<boolean> {
    return await this.#run("retryNow", [key]) === 1;
  }

  async forget(key: string): Promise<void> {
    await this.#run("forget", [key]);
  }

  async numRequeues(key: string): Promise<number> {
    return await this.#run("numRequeues", [key, this.limiter.text]) as number;
  }

  async pause(): Promise<void> {
    await this.#run("pause", []);
  }

  async resume(): Promise<void> {
    await this.#run("resume", []);
  }

  async turn(request: TurnRequest): Promise<TurnReply> {
    const { lease, replaces, hasItems, maxLapses, measuresTimes = false } = this.settings;
    const { process, owner, known, wanted, starts, finishes } = request;
    const reply = await this.#run("turn", [
      ...[process, owner, micros(lease), flag(replaces), flag(hasItems), `${maxLapses}`],
      ...[`${known}`, `${wanted}`],
      ...starts ?? ["", "", ""],
      finishes.find(({ plan }) => plan !== undefined)?.plan ?? this.limiter.text,
      flag(measuresTimes),
      ...finishes.flatMap(({ key, token, kind, delay = 0, given = "", reason = "" }) => [
        ...[key, token, kind, micros(delay), given, reason],
      ]),
    ], "marked") as TurnScriptReply;
    const [pause, isLost, isAlone, answers, keys, keyTokens, payloads, failures, lapsed, times] = reply;
    return {
      pause: pause < 0 ? undefined : pause / 1000,
      isLost: isLost === 1,
      isAlone: isAlone === 1,
      answers: answers.map((answer) => typeof answer === "number" ? answer === 1 : Number(answer[0])),
      taken: keys.map((key, i) => ({
        key,
        token: keyTokens[i]!,
        payload: payloads[i] ?? undefined,
        failures: Number(failures[i] ?? 0),
        readyFor: (times[i] ?? 0) / 1000,
      })),
      lapsed,
    };
  }

  /** Renews the lease of all that an owner holds. Tells whether there was anything to renew. */
  async renew(owner: string): Promise<boolean> {
    return await this.#run("renew", [owner, micros(this.settings.lease)]) === 1;
  }

  /** Gives back what an owner holds beside the tokens that it knows. Returns those of them that it does not hold. */
  async release(owner: string, tokens: readonly string[]): Promise<string[]> {
    return await this.#run("release", [owner, ...tokens]) as string[];
  }

  async leave(process: string, owner: string): Promise<void> {
    await this.#run("leave", [process, owner]);
  }

  async stats(): Promise<Stats> {
    const [ready, waiting, held, failing, givenUp] = await this.#run("stats", []) as number[];
    return { ready: ready!, waiting: waiting!, held: held!, failing: failing!, givenUp: givenUp! };
  }

  async measure(): Promise<Measures> {
    const [ready, waiting, , , , oldest] = await this.#run("stats", []) as number[];
    return { ready: ready!, waiting: waiting!, oldestReady: oldest! / 1000 };
  }

  async contents(limit: number): Promise<Contents> {
    const reply = await this.#run("snapshot", [`${limit}`, flag(this.settings.hasItems)]) as SnapshotScriptReply;
    return contentsOf(reply, entriesOf(reply));
  }

  async details(limit: number): Promise<Details> {
    const reply = await this.#run("details", [`${limit}`, flag(this.settings.hasItems)]) as DetailsScriptReply;
    const entry = entriesOf(reply);
    const contents = contentsOf(reply, entry);
    const [, , , , , , , isPaused, failing, givenUp, oldest, totals, failingKeys] = reply;
    return {
      ...contents,
      isPaused: isPaused === 1,
      failing,
      givenUp,
      oldestReady: Number(oldest) / 1000,
      totals: { handedOut: Number(totals[0]), failed: Number(totals[1]), givenUp: Number(totals[2]) },
      failingEntries: failingKeys.map(([key, attempts, error, us]) => ({
        ...entry(key),
        attempts,
        error,
        dueIn: Number(us) > 0 ? Number(us) / 1000 : undefined,
      })),
    };
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
    const keys = entries.flatMap(({ key, payload }) => hasItems ? [key, payload] : [key]);
    send(this.#run("add", [micros(delay), flag(replaces), flag(hasItems), ...keys]));
  }

  #run(
    script: keyof Scripts,
    args: readonly string[],
    retry: Retry = "always",
  ): Promise<unknown> {
    this.#sendAdds(); // calls are made in their order
    return this.#connection.run(this.#scripts[script], this.#key, args, { retry });
  }
}

type TurnScriptReply = [
  pause: number,
  isLost: number,
  isAlone: number,
  answers: (number | [string | number])[],
  keys: string[],
  tokens: string[],
  payloads: (string | null)[],
  failures: (string | number | null)[],
  lapsed: string[],
  times: number[],
];

type SnapshotScriptReply = [
  ready: number,
  waiting: number,
  held: number,
  readyKeys: string[],
  waiting: string[],
  held: string[],
  payloads: (string | null)[],
];

type DetailsScriptReply = [
  ...SnapshotScriptReply,
  isPaused: number,
  failing: number,
  givenUp: number,
  oldest: string,
  totals: [handedOut: string, failed: string, givenUp: string],
  failingKeys: [key: string, attempts: number, error: string, us: string][],
];

/** Makes the entries of keys that are listed: called once for each of them, in their order. */
function entriesOf([, , , , , , payloads]: SnapshotScriptReply | DetailsScriptReply): (key: string) => Entry {
  let next = 0;
  return (key) => ({ key, payload: payloads[next++] ?? "" });
}

function contentsOf(reply: SnapshotScriptReply | DetailsScriptReply, entry: (key: string) => Entry): Contents {
  const [ready, waiting, held, readyKeys, waitingPairs, heldPairs] = reply;
  return {
    ready,
    waiting,
    held,
    readyEntries: readyKeys.map(entry),
    waitingEntries: pairs(waitingPairs).map(([key, us]) => ({ ...entry(key), dueIn: Number(us) / 1000 })),
    heldEntries: pairs(heldPairs).map(([key, mark]) => ({ ...entry(key), addedAgain: mark === "+" })),
  };
}

/** The longest delay, in microseconds; about 285 years. Larger numbers are not exact. */
const FOREVER = 2 ** 53 - 1;

function micros(ms: number): string {
  return `${Math.max(Math.min(Math.round(ms * 1000), FOREVER), 0)}`;
}

function flag(value: boolean): string {
  return value ? "1" : "0";
}

function pairs(list: readonly string[]): [string, string][] {
  return Array.from({ length: list.length / 2 }, (_, i) => [list[2 * i]!, list[2 * i + 1]!]);
}
