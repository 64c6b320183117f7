import { isSpanContextValid, type SpanContext, trace } from "@opentelemetry/api";
import { hasMethods, invalidArgument } from "@workqueue/core/internal";
import type { RateLimitingQueue } from "@workqueue/core/rate-limiting-queue";

/** Largest number of items whose spans are remembered. */
const MAX_REMEMBERED = 100_000;

/** Methods of a queue that add items. Each call remembers the active span, for {@linkcode tracedHandler}. */
export type TracedAdds<T> = Pick<RateLimitingQueue<T>, "add" | "addAfter" | "addRateLimited">;

/**
 * Returns methods that add items to the queue and remember which span was active. With the option `adds` of
 * {@linkcode tracedHandler}, the span of each attempt links to the span that added its item. If an item was added
 * several times, the link is to the span of the newest add. If no span was active at the newest add, there is no link.
 *
 * Adds through the queue itself aren't remembered. The spans of the 100,000 items that were added last are remembered,
 * until the item succeeds or its handler throws a `TerminalError`.
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
export function tracedAdds<T>(queue: RateLimitingQueue<T>): TracedAdds<T> {
  if (!hasMethods(queue, "add", "addAfter", "addRateLimited")) {
    throw invalidArgument("trace adds", "queue", "must be a rate limiting queue", queue);
  }
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

/** Remembers the contexts of the spans that added items, by the items' keys. */
export class AddingSpans {
  readonly #contexts = new Map<unknown, SpanContext>();

  /** Remembers the active span for the key, instead of the span of an earlier add. */
  remember(key: unknown): void {
    const contexts = this.#contexts;
    contexts.delete(key); // so that the newest add is last in the map
    const context = trace.getActiveSpan()?.spanContext();
    if (context === undefined || !isSpanContextValid(context)) return;
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

/** The remembered spans, by what `tracedAdds` returned. */
const spansOfAdds = /* @__PURE__ */ new WeakMap<object, AddingSpans>();

/** Returns the spans that `adds` remembers; `undefined` if it wasn't returned by `tracedAdds`. */
export function spansOf(adds: unknown): AddingSpans | undefined {
  return spansOfAdds.get(adds as object);
}
