import type { Histogram as Instrument } from "@opentelemetry/api";
import type { Meter } from "./api.ts";
import { hasMethods, invalidArgument, type LabelledNumber } from "@workqueue/core/internal";
import {
  type Counter,
  type Gauge,
  type GiveUpReason,
  type Histogram,
  metricFamilies,
  type MetricsProvider,
  type SettableGauge,
} from "@workqueue/core/metrics";
import { ObservedNumbers } from "./observed_numbers.ts";
import { optionsOf } from "./options_of.ts";

/**
 * Sends what queues and their pools measure to OpenTelemetry, under the names that Kubernetes gives it: see
 * `metricFamilies` of `@workqueue/core/metrics`. The attribute `name` is the queue's name, `priority` the name of a
 * priority, and `reason` the reason for which items were given up.
 *
 * Counters and gauges are plain numbers, read when metrics are collected: to count costs about a nanosecond, where a
 * counter of the SDK costs 100 to 300. Histograms have the buckets of Kubernetes, from 10 ns to 1000 s, as advice: a
 * view of the SDK may choose others. Each value costs what the SDK takes for it, twice for an item.
 *
 * Two calls with the same meter give the same metrics, and two queues of one name have one series: they count together,
 * and of what is set, the latest is told.
 *
 * When the last queue of a name is gone (shut down, and empty), its gauges are reported once more, as 0, and then no
 * more. Its counters and histograms stay for as long as the meter's provider, as OpenTelemetry has no way to remove
 * them: so they are exported even of a queue that came and went between two exports, and go on where they were if the
 * name comes back. Names of queues should therefore be few, as for every attribute of a metric. A gauge whose number
 * nobody knows now is not reported. The SDK for JavaScript repeats the last number of a gauge that is not reported any
 * more, unless the exporter prefers deltas.
 *
 * The OpenTelemetry that Deno has built in takes all of it (`OTEL_DENO=true`). It gives another meter for each call of
 * `getMeter`, so call this once there. And it asks for counters and gauges at its intervals
 * (`OTEL_METRIC_EXPORT_INTERVAL`), but not when the program ends.
 *
 * @example Usage
 * ```ts
 * import { openTelemetryMetrics } from "@workqueue/opentelemetry";
 * import { createWorkQueue } from "@workqueue/core";
 * import {
 *   AggregationTemporality,
 *   InMemoryMetricExporter,
 *   MeterProvider,
 *   PeriodicExportingMetricReader,
 * } from "@opentelemetry/sdk-metrics";
 * import { assertEquals } from "@std/assert";
 *
 * const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE); // or one for OTLP, or Prometheus
 * const provider = new MeterProvider({ readers: [new PeriodicExportingMetricReader({ exporter })] });
 *
 * const metrics = openTelemetryMetrics(provider.getMeter("workqueue"));
 * const queue = createWorkQueue<string>({ name: "images", metrics });
 * queue.add("a");
 * queue.add("b");
 *
 * await provider.forceFlush();
 * const { metrics: exported } = exporter.getMetrics()[0]!.scopeMetrics[0]!;
 * const depth = exported.find(({ descriptor }) => descriptor.name === "workqueue_depth")!;
 * assertEquals(depth.dataPoints.map(({ attributes, value }) => [attributes, value]), [[{ name: "images" }, 2]]);
 * await provider.shutdown();
 * ```
 *
 * @param meter Makes the instruments: `metrics.getMeter("workqueue")` of `@opentelemetry/api`, once the program has set
 * its provider, or `getMeter` of a provider.
 * @returns The metrics, for the option `metrics` of queues and of `loadConfig`.
 * @throws {TypeError} If `meter` is no meter.
 */
export function openTelemetryMetrics(meter: Meter): Required<MetricsProvider> {
  if (!hasMethods(meter, "createHistogram", "createObservableCounter", "createObservableGauge")) {
    throw invalidArgument("create metrics", "meter", "must be a Meter of @opentelemetry/api", meter);
  }
  let metrics = metricsOfMeters.get(meter);
  if (metrics === undefined) metricsOfMeters.set(meter, metrics = new OpenTelemetryMetrics(meter));
  return metrics;
}

/** An instrument that is made twice would be observed twice, and some SDKs warn of it. */
const metricsOfMeters = /* @__PURE__ */ new WeakMap<Meter, Required<MetricsProvider>>();

type Method = keyof typeof metricFamilies;

class OpenTelemetryMetrics implements Required<MetricsProvider> {
  readonly #meter: Meter;
  readonly #numbers = new Map<Method, ObservedNumbers>();
  readonly #histograms = new Map<Method, Instrument>();
  /** The names of which nothing is measured any more. */
  readonly #gone = new Set<string>();

  constructor(meter: Meter) {
    this.#meter = meter;
  }

  depth(queue: string): Gauge {
    return this.#number("depth", queue);
  }

  adds(queue: string): Counter {
    return this.#number("adds", queue);
  }

  queueLatency(queue: string): Histogram {
    return this.#histogram("queueLatency", queue);
  }

  workDuration(queue: string): Histogram {
    return this.#histogram("workDuration", queue);
  }

  unfinishedWork(queue: string): SettableGauge {
    return this.#number("unfinishedWork", queue);
  }

  longestRunningProcessor(queue: string): SettableGauge {
    return this.#number("longestRunningProcessor", queue);
  }

  retries(queue: string): Counter {
    return this.#number("retries", queue);
  }

  priorityDepth(queue: string, level: string): Gauge {
    return this.#number("priorityDepth", queue, level);
  }

  delayed(queue: string): SettableGauge {
    return this.#number("delayed", queue);
  }

  blocked(queue: string): SettableGauge {
    return this.#number("blocked", queue);
  }

  oldestReady(queue: string): SettableGauge {
    return this.#number("oldestReady", queue);
  }

  active(queue: string): Gauge {
    return this.#number("active", queue);
  }

  concurrency(queue: string): SettableGauge {
    return this.#number("concurrency", queue);
  }

  failures(queue: string): Counter {
    return this.#number("failures", queue);
  }

  givenUp(queue: string, reason: GiveUpReason): Counter {
    return this.#number("givenUp", queue, reason);
  }

  gone(queue: string): void {
    this.#gone.add(queue);
  }

  #number(method: Method, queue: string, label?: string): LabelledNumber {
    this.#gone.delete(queue);
    let numbers = this.#numbers.get(method);
    if (numbers === undefined) {
      numbers = new ObservedNumbers(this.#meter, metricFamilies[method], (queue) => this.#gone.has(queue));
      this.#numbers.set(method, numbers);
    }
    return numbers.of(queue, label);
  }

  #histogram(method: Method, queue: string): Histogram {
    let instrument = this.#histograms.get(method);
    if (instrument === undefined) {
      const family = metricFamilies[method];
      this.#histograms.set(method, instrument = this.#meter.createHistogram(family.name, optionsOf(family)));
    }
    const attributes = { name: queue };
    return { observe: (value) => instrument.record(value, attributes) };
  }
}
