/**
 * Plain model of the limiters in reloaded documents. The model stores the state of the limiter at each place in the
 * document, and the failures that each queue counts.
 */

import { type BuiltInOptions, defineLimiter, type LimiterRegistry, limiters, TokenBucket } from "@workqueue/core";
import type { HandClock } from "../helpers.ts";

/** Limiter in a document: a name or a config. */
export type Config =
  | string
  | { type: "exponential"; baseDelay: number; maxDelay: number }
  | { type: "fast-slow"; fastDelay: number; slowDelay: number; maxFastAttempts: number }
  | { type: "bucket"; rate: number; burst: number }
  | { type: "max-of"; limiters: Config[] }
  | { type: "max-wait"; maxDelay: number; limiter: Config }
  | { type: "per-group"; separator: string; limiter: Config }
  | { type: "soft" | "stiff"; step: number; limiter: Config };

type Described = Exclude<Config, string>;

/** Built-in limiters that the model leaves out. A limiter of the core that is in neither does not compile. */
export const LEFT_OUT: Readonly<Record<Exclude<keyof BuiltInOptions, Described["type"]>, string>> = {
  "ignore-early": "it needs the times of attempts",
  "jitter": "its delays are random",
  "steps": "it counts as the other limiters do",
};

export interface Document {
  limiters: Record<string, Config>;
  queues: Record<string, { limiter: Config }>;
}

/** Step that a `soft` limiter refuses, both when it is created and when it is updated. */
export const REFUSED = 13;

/** Reports whether a document contains a `soft` limiter with the refused step. */
export function isRefused(document: unknown): boolean {
  if (typeof document !== "object" || document === null) return false;
  const { type, step } = document as { type?: unknown; step?: unknown };
  return (type === "soft" && step === REFUSED) || Object.values(document).some(isRefused);
}

/**
 * Returns a registry with two custom types, `soft` and `stiff`. Limiters of both types wrap another limiter. For each
 * failure, they add one step to the wrapped limiter's delay. `soft` limiters can be updated, `stiff` limiters can't.
 */
export function customLimiters(): LimiterRegistry {
  class Steps {
    readonly failures = new Map<unknown, number>();
    constructor(public step: number, public limiter: { when(item: unknown, key?: unknown): number }) {}

    when(item: unknown, key: unknown = item): number {
      this.failures.set(key, this.numRequeues(item, key) + 1);
      return this.limiter.when(item, key) + this.numRequeues(item, key) * this.step;
    }

    forget(item: unknown, key: unknown = item): void {
      this.failures.delete(key);
    }

    numRequeues(item: unknown, key: unknown = item): number {
      return this.failures.get(key) ?? 0;
    }
  }
  const options = {
    step: { kind: "integer", description: "" },
    limiter: { kind: "limiter", description: "" },
  } as const;
  return limiters.extend()
    .register(defineLimiter({
      type: "stiff",
      description: "",
      options,
      create: ({ step, limiter }) => new Steps(step, limiter),
    }))
    .register(defineLimiter({
      type: "soft",
      description: "",
      options,
      create({ step, limiter }) {
        if (step === REFUSED) throw new Error("refused");
        return new Steps(step, limiter);
      },
      update(part: Steps, { step, limiter }) {
        if (step === REFUSED) throw new Error("refused");
        part.step = step;
        part.limiter = limiter;
      },
    }));
}

/** State of the limiter at one place in the document. */
interface Place {
  readonly config: Described;
  readonly counts: Map<string, number>;
  readonly bucket: TokenBucket | undefined;
  groups: Map<string, Places>;
}

type Places = Map<string, Place>;

export class PlainLimiters {
  #places: Places = new Map();
  /** Failures that queues count, by queue and key. */
  readonly #failures = new Map<string, number>();

  constructor(readonly clock: HandClock, public document: Document) {
    this.#places = this.#placesOf(new Map());
  }

  /** Replaces the document. */
  reload(document: Document): void {
    this.document = document;
    this.#places = this.#placesOf(this.#places);
  }

  /** Counts a failure of an item in a queue. Returns the delay. */
  addRateLimited(queue: string, key: string): number {
    const { path, config } = this.#ofQueue(queue);
    if (isOwn(config)) return this.when(path, config, key);
    const failures = this.#failuresOf(queue, key) + 1;
    const delay = this.when(path, config, key, failures);
    if (this.#counts(path, config)) this.#failures.set(`${queue} ${key}`, failures);
    return delay;
  }

  forgetItem(queue: string, key: string): void {
    const { path, config } = this.#ofQueue(queue);
    this.#failures.delete(`${queue} ${key}`);
    this.forget(path, config, key, isOwn);
  }

  numRequeuesOfItem(queue: string, key: string): number {
    const { path, config } = this.#ofQueue(queue);
    if (isOwn(config)) return this.numRequeues(path, config, key);
    return this.#counts(path, config) ? this.#failuresOf(queue, key) : 0;
  }

  /**
   * Returns the next delay of the limiter at a path.
   *
   * @param failures The number of failures, which a queue counts. By default, the limiter counts by itself.
   */
  when(path: string, config: Config, key: string, failures?: number, places = this.#places): number {
    if (typeof config === "string") {
      return this.when(`/limiters/${config}`, this.document.limiters[config]!, key, failures);
    }
    const place = places.get(path)!;
    const count = () => {
      const counted = (place.counts.get(key) ?? 0) + 1;
      place.counts.set(key, counted);
      return counted;
    };
    switch (config.type) {
      case "exponential":
        return Math.min(config.baseDelay * 2 ** ((failures ?? count()) - 1), config.maxDelay);
      case "fast-slow":
        return (failures ?? count()) <= config.maxFastAttempts ? config.fastDelay : config.slowDelay;
      case "bucket":
        return place.bucket!.take();
      case "max-of":
        return Math.max(
          ...config.limiters.map((limiter, i) => this.when(`${path}/limiters/${i}`, limiter, key, failures, places)),
        );
      case "max-wait":
        return Math.min(this.when(`${path}/limiter`, config.limiter, key, failures, places), config.maxDelay);
      case "per-group":
        return this.when(`${path}/limiter`, config.limiter, key, failures, this.#group(path, place, key, true));
      case "soft":
      case "stiff": // asks the limiter inside it as by hand
        return count() * config.step + this.when(`${path}/limiter`, config.limiter, key, undefined, places);
    }
  }

  /** Lets the limiters that `forgets` accepts forget a key: those at a path, and those inside built-in ones. */
  forget(
    path: string,
    config: Config,
    key: string,
    forgets: (config: Described) => boolean = () => true,
    places = this.#places,
  ): void {
    if (typeof config === "string") {
      return this.forget(`/limiters/${config}`, this.document.limiters[config]!, key, forgets);
    }
    const place = places.get(path)!;
    if (forgets(config)) place.counts.delete(key);
    if (config.type === "max-of") {
      config.limiters.forEach((limiter, i) => this.forget(`${path}/limiters/${i}`, limiter, key, forgets, places));
    } else if (config.type === "max-wait") this.forget(`${path}/limiter`, config.limiter, key, forgets, places);
    else if (config.type === "per-group") {
      const group = this.#group(path, place, key);
      if (group.size > 0) this.forget(`${path}/limiter`, config.limiter, key, forgets, group);
    }
  }

  numRequeues(path: string, config: Config, key: string, places = this.#places): number {
    if (typeof config === "string") {
      return this.numRequeues(`/limiters/${config}`, this.document.limiters[config]!, key);
    }
    const place = places.get(path)!;
    if (config.type === "max-of") {
      const counts = config.limiters.map((limiter, i) =>
        this.numRequeues(`${path}/limiters/${i}`, limiter, key, places)
      );
      return Math.max(...counts);
    }
    if (config.type === "max-wait") return this.numRequeues(`${path}/limiter`, config.limiter, key, places);
    if (config.type === "per-group") {
      const group = this.#group(path, place, key);
      return group.size === 0 ? 0 : this.numRequeues(`${path}/limiter`, config.limiter, key, group);
    }
    return place.counts.get(key) ?? 0;
  }

  /** Reports whether delays of a limiter may depend on failures. Unknown for groups before the first one is made. */
  #counts(path: string, config: Config, places = this.#places): boolean {
    if (typeof config === "string") return this.#counts(`/limiters/${config}`, this.document.limiters[config]!);
    if (config.type === "max-of") {
      return config.limiters.some((limiter, i) => this.#counts(`${path}/limiters/${i}`, limiter, places));
    }
    if (config.type === "max-wait") return this.#counts(`${path}/limiter`, config.limiter, places);
    if (config.type === "per-group") {
      const latest = [...places.get(path)!.groups.values()].at(-1);
      return latest === undefined || this.#counts(`${path}/limiter`, config.limiter, latest);
    }
    return config.type !== "bucket";
  }

  #failuresOf(queue: string, key: string): number {
    return this.#failures.get(`${queue} ${key}`) ?? 0;
  }

  /** Returns the limiter of a queue and its path, which is elsewhere if the limiter is a name. */
  #ofQueue(queue: string): { path: string; config: Described } {
    let path = `/queues/${queue}/limiter`;
    let config = this.document.queues[queue]!.limiter;
    while (typeof config === "string") {
      path = `/limiters/${config}`;
      config = this.document.limiters[config]!;
    }
    return { path, config };
  }

  /**
   * Returns the limiters of a key's group. A missing group is created if `isMade` is true; otherwise, the returned map
   * is empty.
   */
  #group(path: string, place: Place, key: string, isMade = false): Places {
    const { separator, limiter } = place.config as Extract<Config, { type: "per-group" }>;
    const name = key.split(separator)[0]!;
    let group = place.groups.get(name);
    if (group === undefined) {
      group = new Map();
      if (!isMade) return group;
      this.#enter(`${path}/limiter`, limiter, new Map(), group);
      place.groups.set(name, group);
    }
    return group;
  }

  #roots(): [path: string, config: Config][] {
    return [
      ...Object.entries(this.document.limiters).map(([name, config]) =>
        [`/limiters/${name}`, config] as [string, Config]
      ),
      ...Object.entries(this.document.queues).map(([name, { limiter }]) =>
        [`/queues/${name}/limiter`, limiter] as [string, Config]
      ),
    ];
  }

  #placesOf(before: Places): Places {
    const places: Places = new Map();
    for (const [path, config] of this.#roots()) this.#enter(path, config, before, places);
    return places;
  }

  /** Adds a limiter and its inner limiters to `places`. */
  #enter(path: string, config: Config, before: Places, places: Places): void {
    if (typeof config === "string") return;
    const inside = insideOf(path, config);
    const old = before.get(path);
    if (config.type !== "per-group") { for (const [path, config] of inside) this.#enter(path, config, before, places); }
    let place: Place;
    if (old === undefined || old.config.type !== config.type || this.#isMadeAnew(path, config, old, before, places)) {
      const bucket = config.type === "bucket"
        ? new TokenBucket(config.rate, config.burst, { clock: this.clock })
        : undefined;
      place = { config, counts: new Map(), bucket, groups: new Map() };
    } else {
      place = { config, counts: old.counts, bucket: old.bucket, groups: old.groups };
      if (config.type === "bucket" && !isSame(config, old.config)) {
        place.bucket!.setRate(config.rate);
        place.bucket!.setBurst(config.burst);
      }
    }
    if (config.type === "per-group") {
      const groups = new Map<string, Places>();
      for (const [name, group] of place.groups) {
        const next: Places = new Map();
        for (const [path, config] of inside) this.#enter(path, config, group, next);
        groups.set(name, next);
      }
      place.groups = groups;
    }
    places.set(path, place);
  }

  /**
   * Reports whether a `stiff` limiter must be replaced. It is kept only if neither its step nor its inner limiter has
   * changed.
   */
  #isMadeAnew(path: string, config: Config, old: Place, before: Places, places: Places): boolean {
    if (typeof config === "string" || config.type !== "stiff" || old.config.type !== "stiff") return false;
    if (config.step !== old.config.step) return true;
    const [one, other] = [old.config.limiter, config.limiter];
    if (typeof one === "string" || typeof other === "string") return one !== other;
    return before.get(`${path}/limiter`)!.counts !== places.get(`${path}/limiter`)!.counts;
  }
}

/** Reports whether a limiter is one of a user, without `next`, so that it counts itself. */
function isOwn({ type }: Described): boolean {
  return type === "soft" || type === "stiff";
}

function insideOf(path: string, config: Described): [path: string, config: Config][] {
  if (config.type === "max-of") return config.limiters.map((limiter, i) => [`${path}/limiters/${i}`, limiter]);
  return "limiter" in config ? [[`${path}/limiter`, config.limiter]] : [];
}

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
