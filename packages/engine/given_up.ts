import type { GivenUpOptions, GivenUpPage, GivenUpRetention, GivenUpSelection, RedriveOptions } from "@workqueue/core";
import {
  A_STRING,
  DISCARD,
  limitsOf,
  LIST_GIVEN_UP,
  LIST_OPTIONS,
  REDRIVE,
  REDRIVE_OPTIONS,
  redriveRuns,
  requireRule,
  requireRules,
  SELECTION_OPTIONS,
} from "@workqueue/core/internal";
import { setTimeout as delay } from "node:timers/promises";
import type { RedriveProgress } from "@workqueue/core";
import type { EngineRedrive, KeptSelection, QueueEngine, Retention } from "./engine.ts";
import type { Items } from "./items.ts";

/** Shortest and longest pause between two looks at a redrive that began in this process, in milliseconds. */
const MIN_PAUSE = 20;
const MAX_PAUSE = 5000;

/** Given-up items of a queue, and the redrive that began in this process. */
export class GivenUpItems<T> {
  readonly #engine: QueueEngine;
  readonly #items: Items<T>;
  readonly #onError: (error: unknown) => void;
  /** Aborts when the queue object is shut down. */
  readonly #end = new AbortController();
  #isDriving = false;

  constructor(engine: QueueEngine, items: Items<T>, onError: (error: unknown) => void) {
    this.#engine = engine;
    this.#items = items;
    this.#onError = onError;
  }

  async list(options: GivenUpOptions): Promise<GivenUpPage<T>> {
    requireRules(LIST_GIVEN_UP, options, LIST_OPTIONS);
    const { search = "", limit = 100, cursor } = options;
    if (cursor !== undefined) requireRule(LIST_GIVEN_UP, "cursor", cursor, A_STRING);
    const page = await this.#engine.givenUp({ search, limit, cursor });
    return {
      items: page.entries.map(({ payload, group, ...entry }) => ({
        item: this.#items.read({ key: entry.key, payload }),
        ...entry,
        ...group !== undefined && { group },
      })),
      ...limit > 0 && page.cursor !== undefined && { cursor: page.cursor },
      total: page.total,
      dropped: page.dropped,
    };
  }

  async redrive(options: RedriveOptions): Promise<RedriveProgress> {
    requireRules(REDRIVE, options, REDRIVE_OPTIONS);
    const progress = await this.#engine.redrive(selectionOf(options), options.rate);
    if (progress === undefined) throw redriveRuns();
    this.#drive(progress);
    return progressOf(progress)!;
  }

  async progress(): Promise<RedriveProgress | undefined> {
    return progressOf(await this.#engine.redriveProgress());
  }

  async stop(): Promise<RedriveProgress | undefined> {
    return progressOf(await this.#engine.stopRedrive());
  }

  discard(options: GivenUpSelection): Promise<number> {
    requireRules(DISCARD, options, SELECTION_OPTIONS);
    return this.#engine.discard(selectionOf(options));
  }

  /** Leaves the running redrive to other processes. */
  shutDown(): void {
    this.#end.abort();
  }

  /** Takes the steps of a redrive, in case no other process calls the engine. */
  async #drive({ pauseMs }: EngineRedrive): Promise<void> {
    if (this.#isDriving) return;
    this.#isDriving = true;
    const { signal } = this.#end;
    while (pauseMs !== undefined && !signal.aborted) {
      try {
        if (pauseMs > 0) await delay(Math.min(Math.max(pauseMs, MIN_PAUSE), MAX_PAUSE), undefined, { signal });
        pauseMs = (await this.#engine.redriveProgress())?.pauseMs;
      } catch (error) {
        if (signal.aborted) break;
        this.#onError(error);
        pauseMs = MAX_PAUSE;
      }
    }
    this.#isDriving = false;
  }
}

/** Returns a retention in the terms of an engine. */
export function retentionOf(retention: number | GivenUpRetention): Retention {
  const { max, maxAge } = limitsOf(retention);
  return { max, maxAge: maxAge === Infinity ? undefined : maxAge };
}

/** Returns a selection in the terms of an engine. Keys that an engine can't have are left out. */
function selectionOf({ search = "", keys }: GivenUpSelection): KeptSelection {
  return { search, keys: keys?.filter((key) => typeof key === "string" && key.isWellFormed()) as string[] | undefined };
}

function progressOf(progress: EngineRedrive | undefined): RedriveProgress | undefined {
  if (progress === undefined) return undefined;
  const { redriven, left, running } = progress;
  return { redriven, left, running };
}
