/** Tests of what a real Prometheus knows of a program. */

import { Program } from "./program.ts";
import { PROMETHEUS, Prometheus } from "./server.ts";

/** What is in the variables of dashboards: the labels of the target. */
export const TARGET = { job: "shop", cluster: "test", namespace: "default", instance: "shop-0" } as const;

/** How often it scrapes. */
const INTERVAL = "200ms";

/** A program that has done its work, and a Prometheus that saw it before and after. */
export class Scraped {
  readonly #prometheus: Prometheus;
  /** The time of which all is asked, in seconds: whatever is scraped meanwhile, the answers fit together. */
  readonly #time = Date.now() / 1000;

  private constructor(prometheus: Prometheus) {
    this.#prometheus = prometheus;
  }

  static async start(): Promise<Scraped> {
    const program = await Program.start();
    const { job, ...labels } = TARGET;
    const prometheus = await Prometheus.start(JSON.stringify({ // which is YAML too
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
   * The value for each queue, by its name; or for all of them, under `""`. Rejects with what is wrong with the query.
   */
  async ask(query: string): Promise<Record<string, number>> {
    const answers = await this.#prometheus.query(query, this.#time);
    return Object.fromEntries(answers.map(({ labels, value }) => [labels["name"] ?? "", value]));
  }
}

// Before any test, as it outlives them. Its end is that of the process.
const scraped = PROMETHEUS === undefined ? undefined : await Scraped.start();

/** A test with a real Prometheus, left out where there is none. */
export function scrapedTest(name: string, run: (scraped: Scraped) => Promise<void>): void {
  Deno.test({ name, ignore: scraped === undefined, fn: () => run(scraped!) });
}
