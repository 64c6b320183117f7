/** Test of the page for Go users, which must mention every name from the Go packages. */

import { assertEquals } from "@std/assert";

/** Exported functions, interface methods and types of `k8s.io/client-go/util/workqueue` v0.37.0. */
const WORKQUEUE = `
  New NewNamed NewWithConfig NewTyped NewTypedWithConfig DefaultQueue Queue QueueConfig TypedQueueConfig
  Interface TypedInterface Type Typed Add Len Get Done ShutDown ShutDownWithDrain ShuttingDown
  NewDelayingQueue NewNamedDelayingQueue NewDelayingQueueWithConfig NewDelayingQueueWithCustomClock
  NewDelayingQueueWithCustomQueue NewTypedDelayingQueue NewTypedDelayingQueueWithConfig TypedNewDelayingQueue
  DelayingInterface TypedDelayingInterface DelayingQueueConfig TypedDelayingQueueConfig AddAfter
  NewRateLimitingQueue NewNamedRateLimitingQueue NewRateLimitingQueueWithConfig
  NewRateLimitingQueueWithDelayingInterface NewTypedRateLimitingQueue NewTypedRateLimitingQueueWithConfig
  RateLimitingInterface TypedRateLimitingInterface RateLimitingQueueConfig TypedRateLimitingQueueConfig
  AddRateLimited Forget NumRequeues
  RateLimiter TypedRateLimiter When DefaultControllerRateLimiter DefaultTypedControllerRateLimiter
  DefaultItemBasedRateLimiter DefaultTypedItemBasedRateLimiter BucketRateLimiter TypedBucketRateLimiter
  ItemExponentialFailureRateLimiter TypedItemExponentialFailureRateLimiter NewItemExponentialFailureRateLimiter
  NewTypedItemExponentialFailureRateLimiter ItemFastSlowRateLimiter TypedItemFastSlowRateLimiter
  NewItemFastSlowRateLimiter NewTypedItemFastSlowRateLimiter MaxOfRateLimiter TypedMaxOfRateLimiter
  NewMaxOfRateLimiter NewTypedMaxOfRateLimiter WithMaxWaitRateLimiter TypedWithMaxWaitRateLimiter
  NewWithMaxWaitRateLimiter NewTypedWithMaxWaitRateLimiter
  MetricsProvider SetProvider NewDepthMetric NewAddsMetric NewLatencyMetric NewWorkDurationMetric
  NewUnfinishedWorkSecondsMetric NewLongestRunningProcessorSecondsMetric NewRetriesMetric GaugeMetric
  SettableGaugeMetric CounterMetric SummaryMetric HistogramMetric
  ParallelizeUntil DoWorkPieceFunc Options WithChunkSize
`;

/** Exported names of `golang.org/x/time/rate` v0.16.0. */
const RATE = `
  Limit Inf InfDuration Every Limiter NewLimiter Allow AllowN Reserve ReserveN Wait WaitN Tokens TokensAt Burst
  SetLimit SetLimitAt SetBurst SetBurstAt Reservation OK Delay DelayFrom Cancel CancelAt Sometimes Do First Interval
`;

/**
 * Exported names of `sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue` v0.25.2, and the fields of its
 * options.
 */
const PRIORITY_QUEUE = `
  New PriorityQueue AddWithOpts GetWithPriority AddOpts After RateLimited Priority Opts Opt RateLimiter MetricProvider Log
`;

/**
 * Other names that controllers use: the options and results of controller-runtime's controllers, and `util/runtime`.
 */
const CONTROLLERS = `
  MaxConcurrentReconciles NewQueue RateLimiter ReconciliationTimeout RecoverPanic UsePriorityQueue LowPriority
  Result Requeue RequeueAfter TerminalError Registry
  HandleError HandleErrorWithContext HandleErrorWithLogger ErrorHandlers
  HandleCrash HandleCrashWithContext HandleCrashWithLogger
`;

Deno.test("docs/from-client-go.md names all exports of its Go packages, and the parts that controllers use with them", async () => {
  const page = await Deno.readTextFile(new URL("../../docs/from-client-go.md", import.meta.url));
  const rows = page.split("\n").filter((line) => line.startsWith("|"));
  const words = new Set(rows.map((row) => row.split(" | ")[0]).join(" ").match(/\w+/g));
  const names = `${WORKQUEUE} ${RATE} ${PRIORITY_QUEUE} ${CONTROLLERS}`.trim().split(/\s+/);
  assertEquals(names.filter((name) => !words.has(name)), []);
});
