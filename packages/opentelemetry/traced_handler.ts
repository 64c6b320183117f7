import { type Attributes, type Span, SpanKind, SpanStatusCode } from "@opentelemetry/api";
import { hasMethods, invalidArgument } from "@workqueue/core/internal";
import type { AnyResult, Handler, HandlerContext, HandlerResult } from "@workqueue/core/workers";
import type { Tracer } from "./api.ts";
import { type Ending, endingOfReturn, endingOfThrow, endingOfTimeout } from "./ending.ts";
import { errorTypeOf, exceptionOf } from "./thrown.ts";
import { contextIn, spansOf, type TracedAdds, type TracedRemoteAdds } from "./traced_adds.ts";

/** Options of {@linkcode tracedHandler}. */
export interface TracedHandlerOptions<T> {
  /**
   * The result of {@linkcode tracedAdds}, for links to the spans that added the items. Not needed for a queue
   * on Redis or in a file.
   */
  readonly adds?: TracedAdds<T> | TracedRemoteAdds<T> | undefined;
}

/**
 * Wraps a handler so that each attempt has a span. The wrapper returns and throws the same values as `handler`, and is
 * synchronous if `handler` is synchronous.
 *
 * The span follows OpenTelemetry's [conventions for
 * messaging](https://opentelemetry.io/docs/specs/semconv/messaging/messaging-spans/#process-span), which have the
 * status "Development" and may still change. The name of the span is `process` followed by the name of the queue. The
 * span's kind is `CONSUMER`. Each span starts a new trace, because the span that was active when the item was added has
 * ended, and because one attempt may result from many adds. If the item was added with {@linkcode tracedAdds}, the span
 * links to the span of the newest add. The span is active while the handler runs. If the program has a context manager,
 * spans that the handler starts are children of this span. In the handler, `trace.getActiveSpan()` returns the span,
 * for example to add attributes or links.
 *
 * | attribute | value |
 * | --- | --- |
 * | `messaging.system` | `workqueue`, for queues on every engine |
 * | `messaging.operation.name` | `process` |
 * | `messaging.operation.type` | `process` |
 * | `messaging.destination.name` | the name of the queue, if it has a name |
 * | `messaging.message.id` | the key of the item, as text, if it is a string, number, bigint or boolean |
 * | `workqueue.attempt` | the number of the attempt, from 1 |
 * | `workqueue.outcome` | the outcome of the attempt, as seen by the handler |
 * | `error.type` | the kind of error, if the attempt failed |
 *
 * If the handler returned, the outcome is `succeeded`, `requeued` or `requeued-after`. If the handler threw, the
 * outcome is `given-up` for a `TerminalError`, `interrupted` if the signal had already aborted, and `failed` otherwise.
 * The pool decides afterwards whether the item is given up because of `maxRetries`. An attempt that exceeded its
 * timeout is `timed-out`, unless the handler threw a `TerminalError`. The span of such an attempt ends when the handler
 * ends. For the outcomes `given-up`, `interrupted`, `failed` and `timed-out`, the span has the status `ERROR` and
 * records the error as an event.
 *
 * The `error.type` of an attempt that is `timed-out` is `timeout`. For the other three outcomes, it is the `code` of
 * the error, such as `ECONNREFUSED`, or else the `name` of the error, such as `TypeError`. A code or name is not used
 * if it has more than 64 characters, or characters other than ASCII letters, digits and `_.:-`, because it could be
 * different for each error. If neither the code nor the name can be used, `error.type` is `_OTHER`.
 *
 * Keys become part of traces. If your keys are secret, let `keyOf` return something else.
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
 * @param tracer The tracer, from `trace.getTracer("workqueue")` of `@opentelemetry/api` or a provider's `getTracer`.
 * @param handler The handler for one item.
 * @param options `adds`: the result of {@linkcode tracedAdds}, for links to the spans that added the items.
 * @returns The handler for `runWorkers`.
 * @throws {TypeError} If `tracer` is not a tracer, if `handler` is not a function, or if `adds` is not a result
 * of `tracedAdds`.
 */
export function tracedHandler<T, R = AnyResult>(
  tracer: Tracer,
  handler: Handler<T, R>,
  { adds }: TracedHandlerOptions<T> = {},
): Handler<T, R> {
  if (!hasMethods(tracer, "startActiveSpan")) {
    throw invalidArgument("trace handler", "tracer", "must be a Tracer of @opentelemetry/api", tracer);
  }
  if (typeof handler !== "function") throw invalidArgument("trace handler", "handler", "must be a function", handler);
  const spans = spansOf(adds);
  if (adds !== undefined && spans === undefined) {
    throw invalidArgument("trace handler", "adds", "must be a result of tracedAdds", adds);
  }

  return (item, context) => {
    const { key } = context;
    const added = spans?.of(key);
    const linked = added ?? contextIn(context.trace);
    const links = linked === undefined ? [] : [{ context: linked }];
    const options = { kind: SpanKind.CONSUMER, root: true, attributes: attributesOf(context), links };
    const end = (span: Span, ending: Ending) => {
      if (added !== undefined && LAST.has(ending.outcome)) spans!.forget(key, added);
      endSpan(span, ending);
    };
    return tracer.startActiveSpan(`process ${context.queue}`.trimEnd(), options, (span) => {
      if (!span.isRecording()) return handler(item, context);
      try {
        const returned = handler(item, context);
        if (!isThenable(returned)) {
          end(span, endingOfReturn(returned));
          return returned;
        }
        // A native promise is returned unchanged. Other thenables are converted once, because a call to `then` may
        // start the work again.
        const promise = Promise.resolve(returned as Promise<HandlerResult<R>>);
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

/** Attributes of every span. */
const PROCESS: Attributes = {
  "messaging.system": "workqueue",
  "messaging.operation.name": "process",
  "messaging.operation.type": "process",
};

/**
 * Returns the attributes that are known when a span starts. The attributes of the messaging conventions are string
 * literals, because `@opentelemetry/semantic-conventions` exports their names only from its unstable entry point.
 */
function attributesOf({ queue, key, attempt }: HandlerContext): Attributes {
  const attributes: Attributes = { ...PROCESS, "workqueue.attempt": attempt };
  if (queue !== "") attributes["messaging.destination.name"] = queue;
  if (["string", "number", "boolean", "bigint"].includes(typeof key)) attributes["messaging.message.id"] = String(key);
  return attributes;
}

function isThenable(returned: unknown): boolean {
  return typeof (returned as PromiseLike<unknown> | null | undefined)?.then === "function";
}

/** Outcomes after which the item isn't retried. */
const LAST: ReadonlySet<Ending["outcome"]> = /* @__PURE__ */ new Set<Ending["outcome"]>(["succeeded", "given-up"]);

function endSpan(span: Span, ending: Ending): void {
  span.setAttribute("workqueue.outcome", ending.outcome);
  if ("error" in ending) {
    const exception = exceptionOf(ending.error);
    span.setAttribute("error.type", ending.outcome === "timed-out" ? "timeout" : errorTypeOf(ending.error));
    span.recordException(exception);
    span.setStatus({ code: SpanStatusCode.ERROR, message: exception.message });
  }
  span.end();
}
