import { InMemoryMetrics } from "@workqueue/core";
import { HookedMetrics } from "../faults/hooks.ts";
import { metricsSuite } from "./metrics_suite.ts";

metricsSuite("InMemoryMetrics", () => new InMemoryMetrics());
metricsSuite("one that keeps nothing", () => new HookedMetrics());
