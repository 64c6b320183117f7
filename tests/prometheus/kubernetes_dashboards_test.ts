/**
 * Tests of existing dashboards for Kubernetes' queues, with a program whose numbers are known.
 *
 * - kubernetes-mixin (`kubernetes-monitoring/kubernetes-mixin`): "Work Queue Add Rate", "Work Queue Depth" and "Work
 *   Queue Latency", from `dashboards/controller-manager.libsonnet` and `dashboards/apiserver.libsonnet`. Their sums are
 *   grouped by different labels.
 * - controller-runtime, as kubebuilder's plugin `grafana/v1-alpha` writes it (`kubernetes-sigs/kubebuilder`,
 *   `grafana/controller-runtime-metrics.json`): the panels of its row "Work Queue Metrics".
 */

import { assert, assertAlmostEquals, assertEquals } from "@std/assert";
import { DID } from "./program.ts";
import { type Scraped, scrapedTest, TARGET } from "./scraped.ts";

/** Range that Grafana would choose, wide enough for a slow machine. */
const RANGE = "5m";
const SECONDS = 300;

/** Returns a selector with the variables of a dashboard filled in. */
function selector(...labels: (keyof typeof TARGET)[]): string {
  return `{${labels.map((label) => `${label}="${TARGET[label]}"`)}}`;
}

/**
 * Returns the factor by which Prometheus overestimates increases. It knows a counter only at each scrape, and
 * extrapolates the increase beyond the last scrape. The factor is the same for all counters that start at 0.
 */
async function factorOf(scraped: Scraped): Promise<number> {
  const { images } = await scraped.ask(`increase(workqueue_adds_total[${RANGE}])`);
  const factor = images! / DID.adds;
  assert(factor >= 1 && factor < 2, String(factor));
  return factor;
}

scrapedTest("kubernetes-mixin: the panels of the work queues show what the program did", async (scraped) => {
  const factor = await factorOf(scraped);
  for (const by of ["cluster, instance, name", "instance, name"]) {
    const chosen = selector("cluster", "job", "instance");
    const sum = (metric: string) => `sum by (${by}) (rate(${metric}${chosen}[${RANGE}]))`;

    const addRate = await scraped.ask(sum("workqueue_adds_total"));
    assertAlmostEquals(addRate["images"]!, DID.adds * factor / SECONDS);
    assertEquals(addRate["idle"], 0);

    const depth = await scraped.ask(sum("workqueue_depth")); // its rate of growth, which is the query of the panel
    assertAlmostEquals(depth["images"]!, DID.ready * factor / SECONDS);
    assertEquals(depth["idle"], 0);

    const latency = await scraped.ask(
      `histogram_quantile(0.99, sum by (${by}, le) (rate(workqueue_queue_duration_seconds_bucket${chosen}[${RANGE}])))`,
    );
    assertAlmostEquals(latency["images"]!, DID.latency(0.99));
    assert(Number.isNaN(latency["idle"])); // no values
  }
});

scrapedTest(
  "controller-runtime: the panels of the row 'Work Queue Metrics' show what the program did",
  async (scraped) => {
    const factor = await factorOf(scraped);
    const chosen = selector("job", "namespace");
    const rate = (metric: string) => `sum by (instance, name) (rate(${metric}${chosen}[${RANGE}]))`;
    const quantile = (q: number, metric: string) =>
      `histogram_quantile(${q}, sum by (instance, name, le) (rate(${metric}_bucket${chosen}[${RANGE}])))`;

    // WorkQueue Depth
    assertEquals(await scraped.ask(`workqueue_depth${chosen}`), { images: DID.ready, idle: 0 });
    // Seconds For Items Stay In Queue (before being requested) (P50, P90, P99)
    for (const q of [0.5, 0.9, 0.99]) {
      const { images } = await scraped.ask(quantile(q, "workqueue_queue_duration_seconds"));
      assertAlmostEquals(images!, DID.latency(q));
    }
    // Work Queue Add Rate
    const adds = await scraped.ask(rate("workqueue_adds_total"));
    assertAlmostEquals(adds["images"]!, DID.adds * factor / SECONDS);
    // Unfinished Seconds: their rate of growth
    const unfinished = await scraped.ask(`rate(workqueue_unfinished_work_seconds${chosen}[${RANGE}])`);
    assertAlmostEquals(unfinished["images"]!, DID.unfinished * factor / SECONDS);
    // Seconds Processing Items From WorkQueue (P50, P90, P99)
    for (const q of [0.5, 0.9, 0.99]) {
      const { images } = await scraped.ask(quantile(q, "workqueue_work_duration_seconds"));
      assertAlmostEquals(images!, DID.workDuration(q));
    }
    // Work Queue Retries Rate
    const retries = await scraped.ask(rate("workqueue_retries_total"));
    assertAlmostEquals(retries["images"]!, DID.retries * factor / SECONDS);
  },
);
