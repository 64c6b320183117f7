import { assertEquals } from "@std/assert";
import { compare } from "@workqueue/simulate";

Deno.test("compare: tied configs are named together, and compared with the rest", async () => {
  const jobs = { maxRetries: 5, limiter: { type: "exponential", baseDelay: "1s", maxDelay: "1s" } };
  const { better, verdict } = await compare(
    {
      one: { queues: { jobs: { ...jobs, concurrency: 1 } } },
      four: { queues: { jobs: { ...jobs, concurrency: 40 } } },
      five: { queues: { jobs: { ...jobs, concurrency: 50 } } },
    },
    { duration: "1m", arrivals: [{ type: "poisson", rate: 15 }], work: { type: "constant", time: "100ms" } },
    { by: "p99 total", runs: 3 },
  );
  assertEquals(better, undefined);
  assertEquals(
    verdict.replace(/compared to .* with one\./, "compared to X with one."),
    "four and five are better: their p99 total is 100ms and 100ms, compared to X with one. " +
      "Between these 2, it does not differ with confidence over 3 seeds.",
  );
});
