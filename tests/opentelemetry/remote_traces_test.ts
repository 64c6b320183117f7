/** Tests that the spans of attempts link to the spans that added the items, in queues that processes share. */

import { assertEquals, assertRejects } from "@std/assert";
import { runWorkers } from "@workqueue/core";
import { tracedAdds, tracedHandler } from "@workqueue/opentelemetry";
import { onRedis } from "../redis/place.ts";
import { uniqueName } from "../redis/unique_name.ts";
import { inFile } from "../sqlite/place.ts";
import { attributesOf } from "./otlp_receiver.ts";
import { SentSpans } from "./sent_spans.ts";

const limiter = { type: "exponential", baseDelay: 1, maxDelay: 1 } as const;

for (const test of [onRedis, inFile]) {
  test("traces: an attempt in another process links to the span of the newest add", async (place) => {
    await using sent = await SentSpans.start();
    const name = uniqueName("traces");
    await using here = place.open({ name, limiter });
    await using there = place.open({ name, limiter });
    const adds = tracedAdds(here);
    const within = (span: string, add: () => Promise<unknown>) =>
      sent.tracer.startActiveSpan(span, async (span) => {
        await add();
        span.end();
        return span.spanContext();
      });
    await within("older", () => adds.add("a"));
    const newest = await within("newest", () => adds.add("a", { priority: 3 }));
    const later = await within("later", () => adds.addAfter("b", 1));
    const limited = await within("limited", () => adds.addRateLimited("c"));
    const several = await within("several", () => adds.addAll(["d", "e"], { priority: 1 }));
    await here.add("f");
    await within("without", () => adds.add("g", { trace: undefined }));

    const seen = new Map<string, string | undefined>();
    const pool = runWorkers(
      there,
      tracedHandler<string>(sent.tracer, (item, { attempt, trace }) => {
        seen.set(item, trace);
        if (item === "a" && attempt === 1) throw new Error("once more");
      }),
      { onError() {} },
    );
    await here.whenIdle();
    await pool.stop();

    const links = (await sent.spans()).filter(({ name }) => name.startsWith("process")).map(
      ({ links = [], ...span }) => {
        return `${attributesOf(span)["messaging.message.id"]} ${
          links.map(({ traceId, spanId }) => `${traceId} ${spanId}`)
        }`;
      },
    );
    const expected = Object.entries({ a: newest, b: later, c: limited, d: several, e: several })
      .map(([item, { traceId, spanId }]) => `${item} ${traceId} ${spanId}`);
    assertEquals(links.sort(), [expected[0], ...expected, "f ", "g "].sort());
    assertEquals(seen.get("b"), `00-${later.traceId}-${later.spanId}-01`);
    assertEquals(seen.get("f"), undefined);
  });

  test("traces: an invalid traceparent is refused, and nothing is added", async (place) => {
    await using queue = place.open({ name: uniqueName("traces"), onQueueError() {} });
    for (const trace of ["", "00-1-2-01", 7]) {
      const options = { trace: trace as string };
      const calls = [
        () => queue.add("a", options),
        () => queue.addAll(["a"], options),
        () => queue.addAfter("a", 1, options),
        () => queue.addRateLimited("a", options),
      ];
      for (const call of calls) await assertRejects(call, Error, "'trace' must be a W3C traceparent");
    }
    const { ready, delayed } = await queue.counts();
    assertEquals([ready, delayed], [0, 0]);
  });
}
