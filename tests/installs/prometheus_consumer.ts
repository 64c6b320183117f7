/** Program of a user who has just installed the Prometheus metrics. Every runtime runs the program. */

import { createDefaultItemLimiter, createRateLimitingQueue, type MetricsProvider, runWorkers } from "@workqueue/core";
import { prometheusMetrics, type PrometheusOptions } from "@workqueue/prometheus";
import { register, Registry } from "prom-client";

const options: PrometheusOptions = { keepFor: "1m" };
const own = new Registry();
const metrics: MetricsProvider = prometheusMetrics(own, options);
const queue = createRateLimitingQueue<string>(createDefaultItemLimiter(), { name: "images", metrics });
for (const item of ["a", "b", "a"]) queue.add(item);
runWorkers(queue, (item, { attempt }) => {
  if (item === "b" && attempt === 1) throw new Error("a hiccup");
}, { onError() {} });
await queue.whenIdle();
queue.shutDown();

const values = async (name: string) => (await own.getSingleMetric(name)!.get()).values;
console.log(JSON.stringify({
  adds: await values("workqueue_adds_total"),
  isSame: prometheusMetrics(own) === metrics,
  isOwn: prometheusMetrics() === prometheusMetrics(register),
}));
