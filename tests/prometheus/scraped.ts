/** Helpers for tests with a real Prometheus that scrapes a program. */

import { Program } from "./program.ts";
import { PROMETHEUS, Prometheus } from "./server.ts";

/** Labels of the scrape target, which are also the values of the dashboards' variables. */
export const TARGET = { job: "shop", cluster: "test", namespace: "default", instance: "shop-0" } as const;

/** Scrape interval. */
const INTERVAL = "200ms";

/** Program that has finished its work, and a Prometheus that scraped the program before and after the work. */
export class Scraped {
  readonly #prometheus: Prometheus;
  /** Time of all queries, in seconds. The time is fixed, so that later scrapes don't change the results. */
  readonly #time = Date.now() / 1000;

  private constructor(prometheus: Prometheus) {
    this.#prometheus = prometheus;
  }

  static async start(): Promise<Scraped> {
    const program = await Program.start();
    const { job, ...labels } = TARGET;
    const prometheus = await Prometheus.start(JSON.stringify({ // JSON is valid YAML
      global: { scrape_interval: INTERVAL, scrape_timeout: INTERVAL },
      scrape_configs: [{ job_name: job, static_configs: [{ targets: [program.address], labels }] }],
    }));
    const scrapes = async (count: number) => {
      const query = `count_over_time(workqueue_adds_total{name="images"}[5m])`;
      const before = (await prometheus.query(query))[0]?.value ?? 0;
      await prometheus.until(query, ([answer]) => answer !== undefined && answer.value >= before + count);
    };
    await scrapes(2);
    await program.work();
    await scrapes(2);
    return new Scraped(prometheus);
  }

  /**
   * Returns the result of a query: a value for each queue, by name, or one value for all queues, under `""`. Rejects
   * with the error of the query.
   */
  async ask(query: string): Promise<Record<string, number>> {
    const answers = await this.#prometheus.query(query, this.#time);
    return Object.fromEntries(answers.map(({ labels, value }) => [labels["name"] ?? "", value]));
  }
}

// Prometheus starts before all tests and stops when the process ends.
const scraped = PROMETHEUS === undefined ? undefined : await Scraped.start();

/** Registers a test that uses a real Prometheus. The test is skipped if Prometheus is not installed. */
export function scrapedTest(name: string, run: (scraped: Scraped) => Promise<void>): void {
  Deno.test({ name, ignore: scraped === undefined, fn: () => run(scraped!) });
}
