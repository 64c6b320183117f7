import { type Attributes, type Span, SpanKind, SpanStatusCode } from "@opentelemetry/api";
import { hasMethods, invalidArgument } from "@workqueue/core/internal";
import type { Handler, HandlerContext, Outcome } from "@workqueue/core/workers";
import type { Tracer } from "./api.ts";
import { type Ending, endingOfReturn, endingOfThrow, endingOfTimeout } from "./ending.ts";

/**
 * A handler with a span for each attempt. It returns and throws what the given one does, and is synchronous where that
 * is.
 *
 * The span is called `process` and the queue's name, is of the kind `CONSUMER`, and begins a trace of its own: what was
 * active where the item was added is long over, and many adds may have become one attempt. It is active while the
 * handler runs, so spans that this starts are its children, provided that the program has a context manager. The
 * handler reaches it by `trace.getActiveSpan()`, to add attributes or links.
 *
 * | attribute | what it says |
 * | --- | --- |
 * | `workqueue.queue` | the name of the queue |
 * | `workqueue.key` | the key of the item, as text. Left out unless it is a string, a number or a boolean |
 * | `workqueue.attempt` | 1 the first time |
 * | `workqueue.outcome` | how the attempt ended, as far as the handler knows |
 *
 * The outcome is `succeeded`, `requeued` or `requeued-after` where the handler returned. Where it threw, it is
 * `given-up` for a `TerminalError`, `interrupted` if the signal had aborted before, and else `failed`: whether
 * `maxRetries` gives the item up then, the pool decides afterwards. An attempt whose time was up is `timed-out`,
 * whatever the handler made of it; its span ends when the handler does. The last four have the status `ERROR`, and the
 * error as an event of the span.
 *
 * Keys become part of traces: where they are secret, let `keyOf` give something else.
 *
 * @example Usage
 * ```ts
 * import { tracedHandler } from "@workqueue/opentelemetry";
 * import { createDefaultItemLimiter, createRateLimitingQueue, runWorkers } from "@workqueue/core";
 * import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from "@opentelemetry/sdk-trace";
 * import { assertEquals } from "@std/assert";
 *
 * const exporter = new InMemorySpanExporter(); // or one for OTLP
 * const provider = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] });
 *
 * const queue = createRateLimitingQueue<string>(createDefaultItemLimiter(), { name: "images" });
 * const handler = (image: string) => {
 *   if (image === "bad.jpg") throw new Error("not an image");
 * };
 * runWorkers(queue, tracedHandler(provider.getTracer("workqueue"), handler), { maxRetries: 0, onError() {} });
 * queue.add("cat.jpg");
 * queue.add("bad.jpg");
 * await queue.shutDownWithDrain();
 *
 * await provider.forceFlush();
 * const spans = exporter.getFinishedSpans().map(({ name, attributes }) => [name, attributes["workqueue.outcome"]]);
 * assertEquals(spans, [["process images", "succeeded"], ["process images", "failed"]]);
 * ```
 *
 * @param tracer Makes the spans: `trace.getTracer("workqueue")` of `@opentelemetry/api`, or `getTracer` of a provider.
 * @param handler Works on one item.
 * @returns The handler for `runWorkers`.
 * @throws {TypeError} If `tracer` is no tracer, or `handler` no function.
 */
export function tracedHandler<T>(tracer: Tracer, handler: Handler<T>): Handler<T> {
  if (!hasMethods(tracer, "startActiveSpan")) {
    throw invalidArgument("trace handler", "tracer", "must be a Tracer of @opentelemetry/api", tracer);
  }
  if (typeof handler !== "function") throw invalidArgument("trace handler", "handler", "must be a function", handler);

  return (item, context) => {
    const options = { kind: SpanKind.CONSUMER, root: true, attributes: attributesOf(context) };
    return tracer.startActiveSpan(`process ${context.queue}`.trimEnd(), options, (span) => {
      if (!span.isRecording()) return handler(item, context);
      try {
        const returned = handler(item, context);
        if (!isThenable(returned)) {
          end(span, endingOfReturn(returned));
          return returned;
        }
        // Itself; others are asked once, as some work whenever they are asked
        const promise = Promise.resolve(returned);
        promise.then(
          (outcome) => end(span, endingOfTimeout(context) ?? endingOfReturn(outcome)),
          (error) => end(span, endingOfThrow(error, context)),
        );
        return promise;
      } catch (error) {
        end(span, endingOfThrow(error, context));
        throw error;
      }
    });
  };
}

function attributesOf({ queue, key, attempt }: HandlerContext): Attributes {
  const attributes: Attributes = { "workqueue.queue": queue, "workqueue.attempt": attempt };
  if (["string", "number", "boolean", "bigint"].includes(typeof key)) attributes["workqueue.key"] = String(key);
  return attributes;
}

function isThenable(returned: unknown): returned is PromiseLike<void | Outcome> {
  return typeof (returned as PromiseLike<unknown> | null | undefined)?.then === "function";
}

function end(span: Span, ending: Ending): void {
  span.setAttribute("workqueue.outcome", ending.outcome);
  if ("error" in ending) {
    const exception = exceptionOf(ending.error);
    span.recordException(exception);
    span.setStatus({ code: SpanStatusCode.ERROR, message: exception.message });
  }
  span.end();
}

/** What a span takes for what was thrown: that may be anything, also what throws when it is looked at. */
function exceptionOf(thrown: unknown): { name: string; message: string; stack: string } {
  try {
    if (!(thrown instanceof Error)) return { name: typeof thrown, message: String(thrown), stack: "" };
    return { name: String(thrown.name), message: String(thrown.message), stack: String(thrown.stack ?? "") };
  } catch {
    return { name: typeof thrown, message: "What was thrown cannot be read", stack: "" };
  }
}
