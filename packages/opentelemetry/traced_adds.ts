import { isSpanContextValid, type SpanContext, trace } from "@opentelemetry/api";
import type { AddOptions, Duration } from "@workqueue/core";
import { type InspectedQueue, INSPECTION } from "@workqueue/core/hooks";
import { hasMethods, invalidArgument } from "@workqueue/core/internal";
import type { RateLimitingQueue } from "@workqueue/core/rate-limiting-queue";

/** Largest number of items whose spans are remembered. */
const MAX_REMEMBERED = 100_000;

/** Methods of a queue that add items. Each call remembers the active span, for {@linkcode tracedHandler}. */
export type TracedAdds<T> = Pick<RateLimitingQueue<T>, "add" | "addAfter" | "addRateLimited">;

/** Options of a queue outside this process for adds. */
export type TracedAddOptions = AddOptions & {
  /** The span that adds the item, as a `traceparent` of W3C Trace Context. */
  trace?: string | undefined;
};

/** Methods of a queue outside this process that add items. The queue keeps the span of each item's newest add. */
export interface TracedRemoteAdds<T> {
  /** Adds an item. */
  add(item: T, options?: TracedAddOptions): Promise<void>;
  /** Adds items. */
  addAll(items: Iterable<T>, options?: { readonly trace?: string | undefined }): Promise<unknown>;
  /** Adds an item after a delay. */
  addAfter(item: T, delay: Duration, options?: TracedAddOptions): Promise<void>;
  /** Adds an item after the limiter's delay. */
  addRateLimited(item: T, options?: TracedAddOptions & { minDelay?: Duration | undefined }): Promise<void>;
}

/**
 * Returns methods that add items to the queue and remember which span was active. With {@linkcode tracedHandler}, the
 * span of each attempt links to the span that added its item. If an item was added several times, the link is to the
 * span of the newest add. If no span was active at the newest add, there is no link.
 *
 * With a queue in memory, give the result to `tracedHandler` as the option `adds`. Adds through the queue itself aren't
 * remembered. The spans of the 100,000 items that were added last are remembered, until the item succeeds or its
 * handler throws a `TerminalError`.
 *
 * A queue on Redis or in a file keeps the span of each item, so that attempts in other processes link to it. There,
 * `tracedHandler` needs no option.
 *
 * @example Usage
 * ```ts
 * import { tracedAdds, tracedHandler } from "@workqueue/opentelemetry";
 * import { createDefaultItemLimiter, createRateLimitingQueue, runWorkers } from "@workqueue/core";
 * import { trace } from "@opentelemetry/api";
 *
 * const queue = createRateLimitingQueue<string>(createDefaultItemLimiter(), { name: "images" });
 * const adds = tracedAdds(queue);
 * const tracer = trace.getTracer("workqueue");
 * runWorkers(queue, tracedHandler<string>(tracer, () => {}, { adds }));
 *
 * tracer.startActiveSpan("upload", (span) => {
 *   adds.add("cat.jpg"); // the attempt's span links to this span
 *   span.end();
 * });
 * await queue.shutDownWithDrain();
 * ```
 *
 * @param queue The queue.
 * @returns The methods.
 * @throws {TypeError} If `queue` is not a rate limiting queue.
 */
export function tracedAdds<T>(queue: RateLimitingQueue<T>): TracedAdds<T>;
/**
 * Returns methods that add items to a queue on Redis or in a file, which keeps the active span of each item's newest
 * add. With {@linkcode tracedHandler}, the span of each attempt links to it, in whatever process.
 *
 * @example Usage
 * ```ts ignore
 * import { tracedAdds } from "@workqueue/opentelemetry";
 * import { createRedisQueue } from "@workqueue/redis";
 *
 * const queue = createRedisQueue({ name: "images", url: "redis://localhost:6379" });
 * await tracedAdds(queue).add("cat.jpg");
 * ```
 *
 * @param queue The queue.
 * @returns The methods.
 * @throws {TypeError} If `queue` is not a rate limiting queue.
 */
export function tracedAdds<T, Adds extends TracedRemoteAdds<T>>(
  queue: Adds & TracedRemoteAdds<T>,
): Pick<Adds, keyof TracedRemoteAdds<T>>;
export function tracedAdds<T>(queue: RateLimitingQueue<T> | TracedRemoteAdds<T>): TracedAdds<T> | TracedRemoteAdds<T> {
  if (!hasMethods(queue, "add", "addAfter", "addRateLimited")) {
    throw invalidArgument("trace adds", "queue", "must be a rate limiting queue", queue);
  }
  const adds = keepsTraces(queue) ? withActiveSpan(queue) : undefined;
  if (adds !== undefined) {
    spansOfAdds.set(adds, new AddingSpans());
    return adds;
  }
  return remembering(queue as RateLimitingQueue<T>);
}

function keepsTraces<T>(queue: RateLimitingQueue<T> | TracedRemoteAdds<T>): queue is TracedRemoteAdds<T> {
  const inspected = (queue as InspectedQueue)[INSPECTION];
  return inspected !== undefined && "keepsTraces" in inspected && inspected.keepsTraces;
}

/** Returns methods that give the active span to a queue that keeps it. */
function withActiveSpan<T>(queue: TracedRemoteAdds<T>): TracedRemoteAdds<T> {
  return {
    add: (item, options) => queue.add(item, { trace: activeTrace(), ...options }),
    addAll: (items, options) => queue.addAll(items, { trace: activeTrace(), ...options }),
    addAfter: (item, delay, options) => queue.addAfter(item, delay, { trace: activeTrace(), ...options }),
    addRateLimited: (item, options) => queue.addRateLimited(item, { trace: activeTrace(), ...options }),
  };
}

/** Returns methods that remember the active span in this process. */
function remembering<T>(queue: RateLimitingQueue<T>): TracedAdds<T> {
  const spans = new AddingSpans();
  const remember = (item: T) => spans.remember(queue.keyOf === undefined ? item : queue.keyOf(item));
  const adds: TracedAdds<T> = {
    add(item, options) {
      remember(item);
      queue.add(item, options);
    },
    addAfter(item, delay, options) {
      remember(item);
      queue.addAfter(item, delay, options);
    },
    addRateLimited(item, options) {
      remember(item);
      queue.addRateLimited(item, options);
    },
  };
  spansOfAdds.set(adds, spans);
  return adds;
}

function activeContext(): SpanContext | undefined {
  const context = trace.getActiveSpan()?.spanContext();
  return context !== undefined && isSpanContextValid(context) ? context : undefined;
}

/** Returns the active span as a `traceparent`: https://www.w3.org/TR/trace-context/#traceparent-header */
function activeTrace(): string | undefined {
  const context = activeContext();
  if (context === undefined) return undefined;
  return `00-${context.traceId}-${context.spanId}-${context.traceFlags.toString(16).padStart(2, "0")}`;
}

/** Returns the context of a span from its `traceparent`; `undefined` if it is invalid or missing. */
export function contextIn(traceparent: string | undefined): SpanContext | undefined {
  if (traceparent === undefined) return undefined;
  const [, traceId = "", spanId = "", flags = ""] = traceparent.split("-");
  const context = { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true };
  return isSpanContextValid(context) ? context : undefined;
}

/** Remembers the contexts of the spans that added items, by the items' keys. */
export class AddingSpans {
  readonly #contexts = new Map<unknown, SpanContext>();

  /** Remembers the active span for the key, instead of the span of an earlier add. */
  remember(key: unknown): void {
    const contexts = this.#contexts;
    contexts.delete(key); // so that the newest add is last in the map
    const context = activeContext();
    if (context === undefined) return;
    contexts.set(key, context);
    if (contexts.size > MAX_REMEMBERED) contexts.delete(contexts.keys().next().value);
  }

  /** Returns the context of the span that added the key; `undefined` if it is unknown. */
  of(key: unknown): SpanContext | undefined {
    return this.#contexts.get(key);
  }

  /** Forgets the context of the key, unless the key was added again since `of` returned `context`. */
  forget(key: unknown, context: SpanContext): void {
    if (this.#contexts.get(key) === context) this.#contexts.delete(key);
  }
}

/** Remembered spans, by the object that `tracedAdds` returned. */
const spansOfAdds = /* @__PURE__ */ new WeakMap<object, AddingSpans>();

/** Returns the spans that `adds` remembers; `undefined` if it wasn't returned by `tracedAdds`. */
export function spansOf(adds: unknown): AddingSpans | undefined {
  return spansOfAdds.get(adds as object);
}
