/** Helpers for tests with a real Prometheus that scrapes a program. */

import { Program } from "./program.ts";
import { PROMETHEUS, Prometheus } from "./server.ts";

/** Labels of the target, which fill in the variables of dashboards. */
export const TARGET = { job: "shop", cluster: "test", namespace: "default", instance: "shop-0" } as const;

/** Scrape interval. */
const INTERVAL = "200ms";

/** Program that has finished its work, and a Prometheus that scraped it before and after. */
export class Scraped {
  readonly #prometheus: Prometheus;
  /** Time of all queries, in seconds. The answers are consistent despite later scrapes. */
  readonly #time = Date.now() / 1000;

  private constructor(prometheus: Prometheus) {
    this.#prometheus = prometheus;
  }

  static async start(): Promise<Scraped> {
    const program = await Program.start();
    const { job, ...labels } = TARGET;
    const prometheus = await Prometheus.start(JSON.stringify({ // JSON is also YAML
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
   * Returns the value of a query for each queue, by name, or under `""` for all queues. Rejects with the error of the
   * query.
   */
  async ask(query: string): Promise<Record<string, number>> {
    const answers = await this.#prometheus.query(query, this.#time);
    return Object.fromEntries(answers.map(({ labels, value }) => [labels["name"] ?? "", value]));
  }
}

// Started before all tests. It stops when the process ends.
const scraped = PROMETHEUS === undefined ? undefined : await Scraped.start();

/** Registers a test with a real Prometheus, which is skipped if Prometheus is not installed. */
export function scrapedTest(name: string, run: (scraped: Scraped) => Promise<void>): void {
  Deno.test({ name, ignore: scraped === undefined, fn: () => run(scraped!) });
}
