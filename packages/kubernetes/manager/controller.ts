import {
  createDefaultControllerLimiter,
  createPriorityDiscipline,
  createRateLimitingQueue,
  type HandlerContext,
  type Outcome,
  type RateLimitingQueue,
  RetryAfterError,
  runWorkers,
  systemClock,
  type WorkerPool,
} from "@workqueue/core";
import { callSafely } from "@workqueue/core/internal";
import { type Attempt, attempts, type Change } from "../cache/change.ts";
import type { Cache } from "../cache/cache.ts";
import { groupOf } from "../cache/owner.ts";
import { ApiError, NoAnswerError } from "../client/errors.ts";
import type { Client } from "../client/client.ts";
import { keyOf, type KubeObject } from "../kube_object.ts";
import type { Controller, ControllerMetrics, ControllerOptions, ReconcileResult, Watched } from "./contract.ts";
import { Reconciler } from "./reconciler.ts";

/** Priority of all objects at the start, and of resyncs, as in controller-runtime. Other events have priority 0. */
const LOW = -100;
/** An object from the start goes before an event that comes later by more than half of this time. */
const HEAD_START = "10m";
/** Longest time between an answer of the server and the attempts that failed without one, in milliseconds. */
const WAKING = 500;

/** Properties that a controller gets from its manager. */
export interface ControllerContext {
  readonly client: Client;
  readonly name: string;
  readonly metrics: ControllerMetrics | undefined;
  readonly onError: (error: unknown, where: string) => void;
}

/** Controller of one kind: turns events into keys, and makes attempts at them. */
export class KindController<T extends KubeObject> implements Controller {
  readonly name: string;
  readonly queue: RateLimitingQueue<string>;
  readonly #context: ControllerContext;
  readonly #cache: Cache<T>;
  readonly #options: ControllerOptions<T>;
  readonly #reconciler: Reconciler<T>;
  /** Running attempts by their keys, and whether they caused an event for their own key. */
  readonly #attempts = new Map<string, { readonly attempt: Attempt; isEchoed: boolean }>();
  /** Keys whose last attempt failed. */
  readonly #failed = new Set<string>();
  /** Keys whose last attempt failed because the server didn't answer. */
  readonly #unanswered = new Set<string>();
  #pool: WorkerPool<string> | undefined;
  #signal: AbortSignal | undefined;

  constructor(context: ControllerContext, cache: Cache<T>, options: ControllerOptions<T>) {
    this.name = context.name;
    this.#context = context;
    this.#cache = cache;
    this.#options = options;
    this.#reconciler = new Reconciler(cache, options);
    this.queue = createRateLimitingQueue<string>(options.limiter ?? createDefaultControllerLimiter(), {
      name: this.name,
      addWhileDelayed: "replace",
      discipline: createPriorityDiscipline({ maxHeadStart: HEAD_START }),
      metrics: context.metrics,
    });
    cache.subscribe((change) => {
      this.#reconciler.observe(change);
      if (this.#isEvent(change)) this.#add(keyOf(change.object), change);
    });
    for (const owned of options.owns ?? []) {
      this.#watch({ cache: owned as Cache<KubeObject>, keys: (object) => this.#ownersOf(object) });
    }
    for (const watched of options.watches ?? []) this.#watch(watched);
  }

  /**
   * Starts the attempts, with one at each object. They end when the signal aborts. `check` throws if they may write no
   * longer.
   */
  start(signal: AbortSignal, check: (() => void) | undefined): void {
    const { concurrency = 5, timeout = "2m" } = this.#options;
    const keys = [...this.#cache.list().map((object) => keyOf(object as KubeObject)), ...this.#reconciler.left];
    for (const key of keys) this.queue.add(key, { priority: LOW });
    this.#pool = runWorkers(this.queue, (key, context) => this.#attempt(key, context, check), {
      concurrency,
      timeout,
      signal,
      onError: (error, key, attempt) => {
        const cause = error instanceof RetryAfterError && error.cause !== undefined ? error.cause : error;
        this.#context.onError(cause, `${this.name} ${key}, attempt ${attempt}`);
      },
    });
    this.#signal = signal;
  }

  /** Keys of the running attempts. */
  get running(): string[] {
    return [...this.#attempts.keys()];
  }

  /** Starts no more attempts. Resolves when the running ones have ended. */
  async stop(): Promise<void> {
    this.queue.shutDown(); // drops delayed keys: the next start gives every object an attempt
    await this.#pool?.stop();
  }

  #watch<O extends KubeObject>({ cache, keys }: Watched<O>): void {
    cache.subscribe((change) => {
      const { object, before } = change;
      const found = new Set([...keys(object as never), ...before === undefined ? [] : keys(before as never)]);
      for (const key of found) this.#add(key, change as Change<unknown>);
    });
  }

  #ownersOf({ metadata: { namespace, ownerReferences = [] } }: KubeObject): string[] {
    const { apiVersion, kind, isNamespaced } = this.#cache;
    return ownerReferences
      .filter((owner) => owner.controller && owner.kind === kind && groupOf(owner.apiVersion) === groupOf(apiVersion))
      .map(({ name }) => isNamespaced === false ? name : keyOf({ metadata: { namespace, name } }));
  }

  #isEvent({ type, object, before }: Change<T>): boolean {
    if (type !== "update" || object.metadata.deletionTimestamp) return true;
    try {
      return this.#options.changed?.(object as never, before as never) ?? true;
    } catch (error) {
      this.#context.onError(error, `${this.name} ${keyOf(object)}`);
      return true; // an attempt too many does no harm
    }
  }

  /**
   * Adds the key of an object. An event ends the delay after a failure, unless the attempt itself caused the event:
   * then an attempt that writes and fails would be repeated without a delay. Before the start, events are dropped: a
   * process that waits for the lease would collect the keys of all objects that have ever existed.
   */
  #add(key: string, { type, author }: Change<unknown>): void {
    if (this.#pool === undefined) return;
    const running = this.#attempts.get(key);
    const isEcho = author?.controller === this && author.key === key;
    if (isEcho && running?.attempt === author) running.isEchoed = true;
    else if (!(isEcho || type === "resync") || !this.#failed.has(key)) {
      this.queue.add(key, { priority: type === "resync" ? LOW : 0 });
    }
  }

  async #attempt(
    key: string,
    { attempt: number, signal }: HandlerContext,
    check: (() => void) | undefined,
  ): Promise<Outcome | void> {
    const attempt: Attempt = { controller: this, key, signal, check };
    const running = { attempt, isEchoed: false };
    const startedAt = systemClock.now();
    let result: ReconcileResult = "error";
    this.#attempts.set(key, running);
    this.#failed.delete(key);
    try {
      const outcome = await attempts.run(attempt, () => this.#reconciler.attempt({ key, attempt: number, signal }));
      result = resultOf(outcome);
      if (running.isEchoed && result !== "requeue" && !signal.aborted) this.queue.add(key);
      return outcome;
    } catch (error) {
      this.#failed.add(key);
      throw this.#failure(key, error);
    } finally {
      this.#attempts.delete(key);
      const seconds = (systemClock.now() - startedAt) / 1000;
      const { metrics, onError } = this.#context;
      callSafely(() => metrics?.reconciled?.(this.name, result, seconds), (error) => onError(error, "metrics"));
    }
  }

  /** Returns the error that the pool gets: one with the delay that the server asked for. */
  #failure(key: string, error: unknown): unknown {
    if (error instanceof NoAnswerError && !this.#context.client.isAnswering) this.#pauseUntilAnswered(key);
    if (!(error instanceof ApiError) || error.retryAfter === undefined) return error;
    return new RetryAfterError(error.retryAfter, error.message, { cause: error });
  }

  /**
   * Makes no attempts until the server answers, because their requests would fail. Then the attempts that failed
   * without an answer are repeated soon, however long their delays are.
   */
  #pauseUntilAnswered(key: string): void {
    const isPaused = this.#unanswered.size > 0;
    this.#unanswered.add(key);
    if (isPaused) return;
    this.#pool!.pause();
    const repeat = () => {
      for (const unanswered of this.#unanswered) this.queue.addAfter(unanswered, WAKING * Math.random());
    };
    this.#context.client.whenAnswering(this.#signal!).then(repeat, () => {}).then(() => {
      this.#unanswered.clear();
      this.#pool!.resume(); // also if the client was closed: nothing else would end the pause
    });
  }
}

function resultOf(outcome: Outcome | void): ReconcileResult {
  const { requeueAfter, requeue } = (outcome ?? {}) as { requeueAfter?: unknown; requeue?: boolean };
  return requeueAfter !== undefined ? "requeue_after" : requeue ? "requeue" : "success";
}
