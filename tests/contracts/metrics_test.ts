import { InMemoryMetrics } from "@workqueue/core";
import { HookedMetrics } from "../faults/hooks.ts";
import { metricsSuite } from "./metrics_suite.ts";

metricsSuite("InMemoryMetrics", () => new InMemoryMetrics(), (metrics, metric, queue) => metrics.value(metric, queue));
metricsSuite("one that keeps nothing", () => new HookedMetrics());
