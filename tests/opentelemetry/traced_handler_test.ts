import { trace } from "@opentelemetry/api";
import { AlwaysOffSampler } from "@opentelemetry/sdk-trace";
import { assertEquals, assertStrictEquals, assertThrows } from "@std/assert";
import {
  createExponentialLimiter,
  createRateLimitingQueue,
  type Handler,
  type HandlerContext,
  RetryAfterError,
  runWorkers,
  TerminalError,
  type WorkerOptions,
} from "@workqueue/core";
import { tracedAdds, tracedHandler, type Tracer } from "@workqueue/opentelemetry";
import { HandClock } from "../helpers.ts";
import { flush } from "../queue_helpers.ts";
import { loadSecondCopy } from "../second_copy.ts";
import { attributesOf, CONSUMER, ERROR } from "./otlp_receiver.ts";
import { SentSpans } from "./sent_spans.ts";

/** Returns a queue with a pool that runs a handler. */
function work<T>(handler: Handler<T>, options: WorkerOptions<T> = {}) {
  const clock = new HandClock();
  const limiter = createExponentialLimiter<T>({ baseDelay: 10, maxDelay: 10 });
  const queue = createRateLimitingQueue<T>(limiter, {
    name: "images",
    clock,
    keyOf: (item) => (item as { id?: unknown } | null)?.id ?? item,
  });
  const pool = runWorkers(queue, handler, { onError() {}, ...options });
  return { clock, queue, pool };
}

Deno.test("tracedHandler: each attempt has a span with its number and its outcome", async () => {
  await using sent = await SentSpans.start();
  const handler = tracedHandler<string>(sent.tracer, async (_item, { attempt }) => {
    await Promise.resolve();
    if (attempt === 1) throw new RangeError("a hiccup");
  });
  const { queue, clock } = work(handler);
  queue.add("a");
  await flush();
  await clock.advance(10);
  await queue.shutDownWithDrain();

  const spans = await sent.spans();
  assertEquals(spans.map(({ name, kind }) => [name, kind]), Array(2).fill(["process images", CONSUMER]));
  const common = {
    "messaging.system": "workqueue",
    "messaging.operation.name": "process",
    "messaging.operation.type": "process",
    "messaging.destination.name": "images",
    "messaging.message.id": "a",
  };
  assertEquals(spans.map(attributesOf), [
    { ...common, "workqueue.attempt": 1, "workqueue.outcome": "failed", "error.type": "RangeError" },
    { ...common, "workqueue.attempt": 2, "workqueue.outcome": "succeeded" },
  ]);
  const [failed, succeeded] = spans;
  assertEquals(failed!.status, { code: ERROR, message: "a hiccup" });
  const events = failed!.events!.map((event) => [event.name, attributesOf(event)] as const);
  assertEquals(events.map(([name, given]) => [name, given["exception.type"], given["exception.message"]]), [
    ["exception", "RangeError", "a hiccup"],
  ]);
  assertEquals([succeeded!.status?.code ?? 0, succeeded!.events ?? []], [0, []]);
});

const ENDINGS: [outcome: string, errorType: string | undefined, end: () => ReturnType<Handler<string>>][] = [
  ["succeeded", undefined, () => {}],
  ["succeeded", undefined, () => ({ requeue: false })],
  ["succeeded", undefined, () => null as never],
  ["succeeded", undefined, () => ({ requeueAfter: "0s" })],
  ["requeued", undefined, () => ({ requeue: true })],
  ["requeued", undefined, () => ({ requeueAfter: 0, requeue: true })],
  ["requeued-after", undefined, () => ({ requeueAfter: "1h" })],
  ["requeued-after", undefined, () => ({ requeueAfter: "1h", requeue: true })],
  ["failed", "WQ_ARGUMENT", () => ({ requeueAfter: "soon" } as never)],
  ["failed", "Error", () => {
    throw new Error("bad");
  }],
  ["failed", "RetryAfterError", () => {
    throw new RetryAfterError("1h");
  }],
  ["failed", "_OTHER", () => {
    throw undefined;
  }],
  ["given-up", "TerminalError", () => {
    throw new TerminalError("404");
  }],
];

for (const [outcome, errorType, end] of ENDINGS) {
  Deno.test(`tracedHandler: the span of ${end.toString().replace(/\s+/g, " ")} has the outcome ${outcome}`, async () => {
    await using sent = await SentSpans.start();
    for (const handler of [end, () => Promise.resolve().then(end)]) {
      const { queue } = work<string>(tracedHandler(sent.tracer, handler));
      queue.add("a");
      await flush();
      queue.shutDown();
    }
    const ends = (await sent.spans()).map((span) => [
      attributesOf(span)["workqueue.outcome"],
      attributesOf(span)["error.type"],
      span.status?.code ?? 0,
    ]);
    const expected = [outcome, errorType, errorType === undefined ? 0 : ERROR];
    assertEquals(ends, [expected, expected]);
  });
}

Deno.test("tracedHandler: the error type is the error's code or name, never a text that may differ each time", async () => {
  await using sent = await SentSpans.start();
  const error = (properties: Record<string, unknown>) => Object.assign(new Error("bad"), properties);
  const unreadable = Object.defineProperty(new Error(), "code", {
    get() {
      throw new Error("do not read");
    },
  });
  const types: [thrown: unknown, type: string][] = [
    [error({ code: "ECONNREFUSED" }), "ECONNREFUSED"],
    [error({ code: 404 }), "Error"],
    [error({ code: "no image a" }), "Error"],
    [error({ code: "" }), "Error"],
    [error({ name: "acme.NotFound" }), "acme.NotFound"],
    [error({ name: "a".repeat(64) }), "a".repeat(64)],
    [error({ name: "a".repeat(65) }), "_OTHER"],
    [error({ name: "no image a" }), "_OTHER"],
    [error({ name: 7 }), "_OTHER"],
    [new DOMException("stop", "AbortError"), "AbortError"],
    [new TypeError("bad", { cause: error({ code: "ECONNREFUSED" }) }), "TypeError"],
    [{ code: "ECONNREFUSED" }, "_OTHER"],
    ["text", "_OTHER"],
    [unreadable, "_OTHER"],
  ];
  const handler = tracedHandler<number>(sent.tracer, (index) => {
    throw types[index]![0];
  });
  const { queue } = work(handler);
  for (const index of types.keys()) queue.add(index);
  await flush();
  queue.shutDown();
  const found = (await sent.spans()).map((span) => attributesOf(span)["error.type"]);
  assertEquals(found, types.map(([, type]) => type));
});

Deno.test("tracedHandler: a TerminalError of another copy of the core counts as one", async () => {
  await using sent = await SentSpans.start();
  const other = await loadSecondCopy();
  const { queue } = work<string>(tracedHandler(sent.tracer, () => {
    throw new other.TerminalError("404");
  }));
  queue.add("a");
  await flush();
  assertEquals(await sent.outcomes(), ["given-up"]);
  queue.shutDown();
});

Deno.test("tracedHandler: after a timeout, the outcome is the timeout, and the span ends with the handler", async () => {
  await using sent = await SentSpans.start();
  const endings: (() => void)[] = [];
  const handler = tracedHandler<string>(sent.tracer, async (item) => {
    await new Promise<void>((resolve) => endings.push(resolve));
    if (item === "throws") throw new Error("too late");
  });
  const { queue, clock } = work(handler, { concurrency: 2, timeout: "1s", maxRetries: 0 });
  queue.add("returns");
  queue.add("throws");
  await flush();
  await clock.advance(1000);
  assertEquals(await sent.outcomes(), []);

  for (const end of endings) end();
  await flush();
  const spans = await sent.spans();
  const found = spans.map((span) => {
    const { "workqueue.outcome": outcome, "error.type": type } = attributesOf(span);
    return [outcome, type, span.status];
  });
  assertEquals(found, [
    ["timed-out", "timeout", { code: ERROR, message: "The handler did not end within 1000 ms" }],
    ["timed-out", "timeout", { code: ERROR, message: "too late" }],
  ]);
  queue.shutDown();
});

Deno.test("tracedHandler: an attempt that throws after the pool was asked to end counts as interrupted", async () => {
  await using sent = await SentSpans.start();
  const controller = new AbortController();
  const handler = tracedHandler<string>(sent.tracer, (_item, { signal }) =>
    new Promise((_, reject) => {
      signal.addEventListener("abort", () => reject(signal.reason));
    }));
  const { queue, pool } = work(handler, { signal: controller.signal });
  queue.add("a");
  await flush();
  controller.abort();
  await pool.finished;
  const [span] = await sent.spans();
  const { "workqueue.outcome": outcome, "error.type": type } = attributesOf(span!);
  assertEquals([outcome, type, span!.status!.code], ["interrupted", "AbortError", ERROR]);
  assertEquals(queue.length, 1);
  queue.shutDown();
});

Deno.test("tracedHandler: spans of the handler are children, and each attempt begins a trace", async () => {
  await using sent = await SentSpans.start();
  const { tracer } = sent;
  const child = (name: string) => tracer.startActiveSpan(name, (span) => span.end());
  const handler = tracedHandler<string>(tracer, async () => {
    child("first");
    await Promise.resolve();
    child("second");
    trace.getActiveSpan()!.setAttribute("own", true);
  });
  await tracer.startActiveSpan("start of the program", async (span) => {
    const { queue } = work(handler);
    queue.add("a");
    queue.add("b");
    await flush();
    queue.shutDown();
    span.end();
  });

  const spans = await sent.spans();
  const attempts = spans.filter(({ name }) => name === "process images");
  assertEquals(attempts.map((attempt) => attributesOf(attempt)["own"]), [true, true]);
  assertEquals(attempts.map(({ parentSpanId = "" }) => parentSpanId), ["", ""]);
  for (const { traceId, spanId } of attempts) {
    const children = spans.filter(({ parentSpanId }) => parentSpanId === spanId);
    assertEquals(children.map(({ name, traceId }) => [name, traceId]), [["first", traceId], ["second", traceId]]);
  }
  assertEquals(new Set(spans.map(({ traceId }) => traceId)).size, 3);
});

/** Returns a queue whose attempts link to adds, and a function that calls `add` within a span and returns its id. */
function linked(tracer: Tracer, handler: Handler<string> = () => {}) {
  const clock = new HandClock();
  const queue = createRateLimitingQueue<string>(createExponentialLimiter({ baseDelay: 10, maxDelay: 10 }), {
    clock,
    keyOf: (item) => item.toLowerCase(),
  });
  const adds = tracedAdds(queue);
  const start = () => runWorkers(queue, tracedHandler(tracer, handler, { adds }), { onError() {} });
  const within = (name: string, add: () => void) =>
    tracer.startActiveSpan(name, (span) => {
      add();
      span.end();
      return span.spanContext().spanId;
    });
  return { clock, queue, adds, start, within };
}

/** Returns the ids of the spans that the spans of attempts link to, by attempt. */
async function linksOf(sent: SentSpans): Promise<string[][]> {
  const attempts = (await sent.spans()).filter(({ name }) => name === "process");
  return attempts.map(({ links = [] }) => links.map(({ spanId }) => spanId));
}

Deno.test("tracedAdds: each attempt links to the span of the newest add, also after a delay and a failure", async () => {
  await using sent = await SentSpans.start();
  const failed = new Set<unknown>();
  const { clock, queue, adds, start, within } = linked(sent.tracer, (_item, { key }) => {
    if (failed.has(key)) return;
    failed.add(key);
    throw new Error("a hiccup");
  });
  within("first", () => adds.add("a"));
  const newest = within("second", () => adds.add("A"));
  const delayed = within("third", () => adds.addAfter("b", 5));
  const limited = within("fourth", () => adds.addRateLimited("c"));
  start();
  await flush();
  await clock.advance(5);
  await clock.advance(5);
  await clock.advance(50);
  await queue.shutDownWithDrain();
  const links = (await linksOf(sent)).map(([id]) => id).sort();
  assertEquals(links, [newest, newest, delayed, delayed, limited, limited].sort());
});

Deno.test("tracedAdds: an item added again while it is processed links to the newer span afterwards", async () => {
  await using sent = await SentSpans.start();
  let again: string | undefined;
  const { queue, adds, start, within } = linked(sent.tracer, () => {
    again ??= within("again", () => adds.add("a"));
  });
  const first = within("first", () => adds.add("a"));
  start();
  await flush();
  await queue.shutDownWithDrain();
  assertEquals(await linksOf(sent), [[first], [again!]]);
});

Deno.test("tracedAdds: no link without an active span, nor to the span of an item that has ended", async () => {
  await using sent = await SentSpans.start();
  const { queue, adds, start, within } = linked(sent.tracer, (item) => {
    if (item === "b") throw new TerminalError("no");
  });
  within("first", () => adds.add("a"));
  adds.add("a"); // the newest add has no span
  const ended = ["b", "c"].map((item) => within(item, () => adds.add(item)));
  start();
  await flush();
  queue.add("b");
  queue.add("c");
  await flush();
  await queue.shutDownWithDrain();
  assertEquals(await linksOf(sent), [[], [ended[0]!], [ended[1]!], [], []]);
});

Deno.test("tracedAdds: the newest 100,000 items are remembered", async () => {
  await using sent = await SentSpans.start();
  const { queue, adds, within } = linked(sent.tracer);
  const adding = within("adding", () => {
    for (let index = 0; index <= 100_000; index++) adds.add(String(index));
  });
  const handler = tracedHandler(sent.tracer, () => {}, { adds });
  for (const key of ["0", "1", "100000"]) handler(key, { ...CONTEXT, queue: "", key });
  assertEquals(await linksOf(sent), [[], [adding], [adding]]);
  queue.shutDown();
});

Deno.test("tracedAdds: invalid arguments are refused", () => {
  const tracer = trace.getTracer("test");
  assertThrows(() => tracedAdds({} as never), TypeError, "'queue' must be a rate limiting queue");
  const adds = { add() {} } as never;
  assertThrows(() => tracedHandler(tracer, () => {}, { adds }), TypeError, "'adds' must be a result of tracedAdds");
});

Deno.test("tracedHandler: keys that are strings, numbers or booleans are recorded, and others are not", async () => {
  await using sent = await SentSpans.start();
  const { queue } = work<unknown>(tracedHandler(sent.tracer, () => {}));
  const items = ["a", 1, 2n, false, { id: "b" }, { id: 3 }, {}, Symbol("c"), null];
  for (const item of items) queue.add(item);
  await flush();
  const keys = (await sent.spans()).map((span) => attributesOf(span)["messaging.message.id"]);
  assertEquals(keys, ["a", "1", "2", "false", "b", "3", undefined, undefined, undefined]);
  queue.shutDown();
});

Deno.test("tracedHandler: a queue without a name has no destination", async () => {
  await using sent = await SentSpans.start();
  tracedHandler<string>(sent.tracer, () => {})("a", { ...CONTEXT, queue: "" });
  const [span] = await sent.spans();
  assertEquals([span!.name, Object.keys(attributesOf(span!))], [
    "process",
    [
      "messaging.system",
      "messaging.operation.name",
      "messaging.operation.type",
      "workqueue.attempt",
      "messaging.message.id",
      "workqueue.outcome",
    ],
  ]);
});

const CONTEXT: HandlerContext = {
  queue: "images",
  key: "a",
  attempt: 1,
  priority: 0,
  addedAgain: () => false,
  token: undefined,
  trace: undefined,
  signal: new AbortController().signal,
  charge: () => {},
};

Deno.test("tracedHandler: it returns the same as the handler, at once or as the same promise", async () => {
  await using sent = await SentSpans.start();
  const outcome = { requeue: true };
  const promise = Promise.resolve(outcome);
  assertStrictEquals(tracedHandler<string>(sent.tracer, () => outcome)("a", CONTEXT), outcome);
  assertStrictEquals(tracedHandler<string>(sent.tracer, () => promise)("a", CONTEXT), promise);
  await promise;
  assertEquals(await sent.outcomes(), ["requeued", "requeued"]);
});

Deno.test("tracedHandler: a thenable is awaited, and its `then` is called once", async () => {
  await using sent = await SentSpans.start();
  let asked = 0;
  const query = {
    then(resolve: (outcome: { requeue: true }) => void) {
      asked++;
      resolve({ requeue: true });
    },
  };
  const returned = tracedHandler<string>(sent.tracer, () => query as never)("a", CONTEXT);
  assertEquals(await returned, { requeue: true });
  assertEquals([asked, await sent.outcomes()], [1, ["requeued"]]);
});

Deno.test("tracedHandler: it throws what the handler throws, whatever the value", async () => {
  await using sent = await SentSpans.start();
  const unreadable = Object.defineProperty(new Error(), "message", {
    get() {
      throw new Error("nobody looks at me");
    },
  });
  for (const thrown of [new Error("bad"), "text", undefined, null, 7, Symbol("s"), Object.create(null), unreadable]) {
    const traced = tracedHandler<string>(sent.tracer, () => {
      throw thrown;
    });
    let caught: unknown = "nothing";
    try {
      traced("a", CONTEXT);
    } catch (error) {
      caught = error;
    }
    assertStrictEquals(caught, thrown);
    const reject = tracedHandler<string>(sent.tracer, () => Promise.reject(thrown));
    assertStrictEquals(await Promise.resolve(reject("a", CONTEXT)).then(() => "nothing", (error) => error), thrown);
  }
  assertEquals(new Set(await sent.outcomes()), new Set(["failed"]));
});

Deno.test("tracedHandler: a span that is not recorded changes nothing", async () => {
  await using sent = await SentSpans.start({ sampler: new AlwaysOffSampler() });
  for (const tracer of [sent.tracer, trace.getTracer("of no SDK")]) {
    const handled: string[] = [];
    const { queue } = work<string>(tracedHandler(tracer, (item) => void handled.push(item)));
    queue.add("a");
    await flush();
    queue.shutDown();
    assertEquals(handled, ["a"]);
  }
  assertEquals(await sent.spans(), []);
});

Deno.test("tracedHandler: a value that is not a tracer or not a handler is refused", () => {
  const tracer = trace.getTracer("any");
  const words = "Cannot trace handler:";
  assertThrows(
    () => tracedHandler({} as Tracer, () => {}),
    TypeError,
    `${words} 'tracer' must be a Tracer of @opentelemetry/api, got an object`,
  );
  assertThrows(
    () => tracedHandler(tracer, undefined as never),
    TypeError,
    `${words} 'handler' must be a function, got undefined`,
  );
});
