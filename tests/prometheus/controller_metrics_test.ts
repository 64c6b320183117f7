/** Tests of the metrics of controllers. */

import { assertEquals, assertStrictEquals, assertThrows } from "@std/assert";
import { controllerMetrics } from "@workqueue/prometheus";
import { Registry } from "prom-client";

Deno.test("the metrics of controllers have the names of controller-runtime", async () => {
  const register = new Registry();
  const metrics = controllerMetrics(register);
  metrics.reconciled("website", "success", 0.2);
  metrics.reconciled("website", "error", 3);
  metrics.watchRestarted("Website");
  metrics.cacheSize("Website", () => 3);
  metrics.cacheSize("Website", () => 4);
  metrics.leading("websites", true);
  const text = await register.metrics();
  const lines = text.split("\n").filter((line) => /^(controller_|leader_|workqueue_(watch|cache))/.test(line));
  assertEquals(lines.filter((line) => !line.includes("_bucket")), [
    'controller_runtime_reconcile_total{controller="website",result="success"} 1',
    'controller_runtime_reconcile_total{controller="website",result="error"} 1',
    'controller_runtime_reconcile_errors_total{controller="website"} 1',
    'controller_runtime_reconcile_time_seconds_sum{controller="website"} 3.2',
    'controller_runtime_reconcile_time_seconds_count{controller="website"} 2',
    'leader_election_master_status{name="websites"} 1',
    'workqueue_watch_restarts_total{kind="Website"} 1',
    'workqueue_cache_objects{kind="Website"} 7',
  ]);
});

Deno.test("a second call with the same register returns the same metrics, which also measure queues", () => {
  const register = new Registry();
  const metrics = controllerMetrics(register);
  assertStrictEquals(controllerMetrics(register), metrics);
  metrics.depth("images").inc();
  assertThrows(() => controllerMetrics({} as never), TypeError, "must be a register of prom-client");
});
