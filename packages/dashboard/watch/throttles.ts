import type { ThrottleDescription, TokenBucket, WorkQueueConfig } from "@workqueue/core";
import { isTokenBucket, type Throttle, type ThrottleSnapshot } from "@workqueue/core/hooks";
import { escapePointer, formatDuration, hasMethods } from "@workqueue/core/internal";
import type { Bucket, ThrottleNode, ThrottleRow } from "../api.ts";
import { optionsOf } from "./descriptions.ts";
import { showBucket, showFarBucket } from "./limiters.ts";
import { errorText } from "./texts.ts";

/** A queue, as far as its throttle is concerned. */
export interface Throttled {
  readonly name: string;
  /** Throttle of the queue; not an object if there is none. */
  readonly throttleSource: unknown;
  readonly source: { readonly engine: string };
}

/** Throttle whose limit can be set. */
export interface LimitedThrottle {
  readonly limit: number;
  readonly inUse: number;
  setLimit(limit: number): void;
}

/** Throttle that a control changes. */
export interface SteeredThrottle {
  /**
   * Whether the throttle is known here. It is unknown if a queue has no throttle, or if its pool is in another process.
   */
  readonly isKnown: boolean;
  readonly engine: string;
  /** The throttle as a bucket; `undefined` if it isn't a bucket of this process. */
  readonly bucket: TokenBucket | undefined;
  /** The throttle, if its type is `concurrency` and it is in this process. */
  readonly limited: LimitedThrottle | undefined;
  /** Type in the config; `null` if unknown. */
  readonly type: string | null;
  /** Names of the throttles inside it. */
  readonly inside: readonly string[];
  /** Names of the queues that use the throttle, alone or inside another throttle. */
  readonly queues: readonly string[];
}

/** State of a throttle, without the queues that use it. */
export type ThrottleState = Omit<ThrottleRow, "queues">;

/** Throttles of a config, and of pools that have a throttle of their own. */
export class Throttles {
  readonly #config: WorkQueueConfig | undefined;
  readonly #queues: () => Iterable<Throttled>;
  /** Descriptions of the config's throttles, by throttle. Throttles without a description are those of pools. */
  #nodes: Map<unknown, ThrottleNode> | undefined;

  /** @param queues Returns the queues of the dashboard. */
  constructor(config: WorkQueueConfig | undefined, queues: () => Iterable<Throttled>) {
    this.#config = config;
    this.#queues = queues;
  }

  /** Returns a throttle for controls. `throttle` is not an object if there is none. */
  steered(throttle: unknown, engine: string): SteeredThrottle {
    const here = engine === "memory" ? throttle : undefined;
    const { type = null, inside = [] } = this.#descriptions.get(throttle) ?? {};
    const users = isObject(throttle) ? this.#users().get(throttle) ?? [] : [];
    return {
      isKnown: isObject(throttle),
      engine,
      bucket: isTokenBucket(here) ? here : undefined,
      limited: hasMethods(here, "acquire", "setLimit") ? here as LimitedThrottle : undefined,
      type,
      inside: inside.flatMap(({ name }) => name ?? []),
      queues: users.map(({ name }) => name),
    };
  }

  /** Returns the throttle with a name, for controls; `undefined` if there is none. */
  named(name: string): SteeredThrottle | undefined {
    for (const [throttle, queues] of this.#users()) {
      if (this.#descriptions.get(throttle)?.name === name) return this.steered(throttle, engineOf(queues));
    }
    return undefined;
  }

  /** Names of the throttles. */
  get names(): string[] {
    return Array.from(this.#users().keys(), (throttle) => this.#descriptions.get(throttle)?.name)
      .filter((name) => typeof name === "string");
  }

  /** Discards the descriptions. Called after a change to the config, because the descriptions are then outdated. */
  forgetConfig(): void {
    this.#nodes = undefined;
  }

  /** Returns the state of a queue's throttle; `null` if the queue has no throttle, or none that is known here. */
  stateOf({ throttleSource, source: { engine } }: Throttled): ThrottleState | null {
    return isObject(throttleSource) ? this.#show(throttleSource, engine) : null;
  }

  /**
   * Returns all throttles: those that hold back attempts first, then those of the config in document order, and the
   * others in the order of the queues.
   */
  rows(): ThrottleRow[] {
    const rows = Array.from(this.#users(), ([throttle, queues]): ThrottleRow => {
      return { ...this.#show(throttle, engineOf(queues)), queues: queues.map(({ name }) => name) };
    });
    return rows.sort((a, b) => rankOf(a) - rankOf(b));
  }

  /** Returns all throttles of the config and of the queues, with the queues that use them. */
  #users(): Map<object, Throttled[]> {
    const users = new Map<object, Throttled[]>();
    for (const name of this.#config?.throttleNames ?? []) users.set(this.#config!.throttle(name), []);
    for (const queue of this.#queues()) {
      for (const throttle of this.#usedBy(queue.throttleSource)) {
        const others = users.get(throttle);
        if (others === undefined) users.set(throttle, [queue]);
        else others.push(queue);
      }
    }
    return users;
  }

  /** Returns the throttle of a queue, and the throttles with names inside it. */
  #usedBy(throttle: unknown): Set<object> {
    const used = new Set<object>(isObject(throttle) ? [throttle] : []);
    const nodes = [...this.#descriptions.get(throttle)?.inside ?? []];
    for (const { name, inside } of nodes) {
      if (name !== null) used.add(this.#config!.throttle(name));
      nodes.push(...inside);
    }
    return used;
  }

  #show(throttle: object, engine: string): ThrottleState {
    const show = engine === "memory" ? showBucket : showFarBucket;
    const bucket = isTokenBucket(throttle) ? show(throttle) : null;
    const { limit, inUse, state } = bucket === null ? snapshotOf(throttle) : NOTHING_KNOWN;
    return {
      ...this.#descriptions.get(throttle) ?? { ...UNDESCRIBED, type: bucket === null ? null : "bucket" },
      engine,
      limit,
      inUse,
      state: bucket === null ? state : stateOf(bucket),
      bucket,
    };
  }

  get #descriptions(): Map<unknown, ThrottleNode> {
    return this.#nodes ??= this.#config === undefined ? new Map() : describe(this.#config);
  }
}

const UNDESCRIBED: ThrottleNode = { path: null, type: null, name: null, options: {}, inside: [] };

function describe(config: WorkQueueConfig): Map<unknown, ThrottleNode> {
  const nodes = new Map<unknown, ThrottleNode>();
  for (const name of config.throttleNames) { // no queue may use it, and then its type is not known
    const throttle = config.throttle(name);
    const path = `/throttles/${escapePointer(name)}`;
    nodes.set(throttle, { ...UNDESCRIBED, path, name, type: isTokenBucket(throttle) ? "bucket" : null });
  }
  const add = (description: ThrottleDescription, throttle: unknown): ThrottleNode => {
    const { path, type, name = null } = description;
    const { options, inside } = optionsOf(description);
    const node = {
      ...{ path, type, name, options },
      inside: inside.map((part) => add(part, part.name === undefined ? undefined : config.throttle(part.name))),
    };
    if (throttle !== undefined) nodes.set(throttle, node);
    return node;
  };
  for (const queue of config.queueNames) {
    const { throttle } = config.describe(queue);
    if (throttle !== undefined) add(throttle, config.workers(queue).throttle);
  }
  return nodes;
}

/** Returns the engine of a throttle: that of its first queue, if all its queues are shared. */
function engineOf(queues: readonly Throttled[]): string {
  const engines = queues.map(({ source: { engine } }) => engine);
  return engines.includes("memory") ? "memory" : engines[0] ?? "memory";
}

type Shown = Pick<ThrottleState, "limit" | "inUse" | "state">;

const NOTHING_KNOWN: Shown = { limit: null, inUse: null, state: "" };

/** Returns what a throttle says about itself. A third-party throttle may throw, or return anything. */
function snapshotOf(throttle: object): Shown {
  try {
    if (!hasMethods(throttle, "snapshot")) return NOTHING_KNOWN;
    const { limit, inUse, state } = (throttle as Throttle).snapshot!() as Partial<
      Record<keyof ThrottleSnapshot, unknown>
    >;
    return { limit: finite(limit), inUse: finite(inUse), state: typeof state === "string" ? errorText(state) : "" };
  } catch {
    return NOTHING_KNOWN;
  }
}

function finite(value: unknown): number | null {
  return Number.isFinite(value) ? value as number : null;
}

function stateOf({ tokens, resumesInMs, rate }: Bucket): string {
  if (resumesInMs > 0) return `paused for ${formatDuration(resumesInMs)}`;
  return tokens !== null && tokens < 1 && rate !== "unlimited" ? "empty" : "";
}

/** Returns the rank of a throttle in the list: first those that let no attempt start now. */
function rankOf({ limit, inUse, bucket }: ThrottleRow): number {
  if (limit === 0 || (bucket?.resumesInMs ?? 0) > 0) return 0;
  return isFull({ limit, inUse }) ? 1 : 2;
}

/** Reports whether as many attempts are running as a throttle allows. */
export function isFull({ limit, inUse }: Pick<ThrottleState, "limit" | "inUse">): boolean {
  return limit !== null && inUse !== null && limit > 0 && inUse >= limit;
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}
