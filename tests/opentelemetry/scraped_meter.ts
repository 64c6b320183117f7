/** Meter of the real SDK, which a test scrapes as Prometheus would. */

import { diag, DiagLogLevel } from "@opentelemetry/api";
import { PrometheusExporter } from "@opentelemetry/exporter-prometheus";
import { MeterProvider } from "@opentelemetry/sdk-metrics";
import type { Meter } from "@workqueue/opentelemetry";
import { HttpServer } from "./http_server.ts";

export class ScrapedMeter implements AsyncDisposable {
  /** Warnings and errors of the SDK, for example about duplicate instruments. */
  readonly complaints: string[] = [];
  readonly #provider: MeterProvider;
  readonly #server: HttpServer;

  private constructor(provider: MeterProvider, server: HttpServer) {
    this.#provider = provider;
    this.#server = server;
    const complain = (...words: unknown[]) => void this.complaints.push(words.join(" "));
    const quiet = () => {};
    diag.setLogger({ error: complain, warn: complain, info: quiet, debug: quiet, verbose: quiet }, DiagLogLevel.WARN);
  }

  static async start(): Promise<ScrapedMeter> {
    const exporter = new PrometheusExporter({
      preventServerStart: true, // the exporter's own server can't choose a free port
      withoutScopeInfo: true,
      withoutTargetInfo: true,
    });
    const server = await HttpServer.start((request, response) => exporter.getMetricsRequestHandler(request, response));
    return new ScrapedMeter(new MeterProvider({ readers: [exporter] }), server);
  }

  get meter(): Meter {
    return this.#provider.getMeter("workqueue");
  }

  /** Returns the lines that Prometheus would read. */
  async scrape(): Promise<string[]> {
    const response = await fetch(this.#server.url);
    return (await response.text()).trim().split("\n");
  }

  /** Returns the values of one metric, by their labels. */
  async values(metric: string): Promise<Record<string, number>> {
    const values: Record<string, number> = {};
    for (const line of await this.scrape()) {
      const [, name, labels, value] = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
      if (name === metric) values[labels!] = Number(value);
    }
    return values;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#provider.shutdown();
    await this.#server[Symbol.asyncDispose]();
    diag.disable();
  }
}
