import type { Histogram as Instrument } from "@opentelemetry/api";
import type { Meter } from "./api.ts";
import { hasMethods, invalidArgument, type LabelledNumber } from "@workqueue/core/internal";
import {
  adaptMetrics,
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
 * Creates a metrics provider that reports the metrics of queues and their pools to OpenTelemetry, under the names that
 * Kubernetes uses. The names are in `metricFamilies` of `@workqueue/core/metrics`. The attribute `name` is the name of
 * the queue, `priority` is the name of a priority, and `reason` is the reason why items were given up.
 *
 * Counters and gauges are plain numbers that are read when metrics are collected. An update takes about one nanosecond.
 * Updating one of the SDK's counters would take 100 to 300 ns. The default buckets of histograms are the same as in
 * Kubernetes, from 10 ns to 1000 s. A view in the SDK may choose other buckets. Histogram values go through the SDK:
 * two values per item.
 *
 * Two calls with the same meter return the same provider. Two queues with the same name share one series: their counts
 * add up, and each new gauge value replaces the previous value.
 *
 * When the last queue with a given name is gone (shut down and empty), its gauges are reported as 0 once, and then no
 * longer reported. Its counters and histograms exist as long as the meter's provider does, because OpenTelemetry can't
 * remove them. Counters and histograms are therefore exported even if a queue existed only between two exports, and
 * continue if the name is used again. Use few queue names, because each name adds series. A gauge whose value is
 * unknown is not reported. The JavaScript SDK repeats the last value of a gauge that is no longer reported, unless the
 * exporter uses delta temporality.
 *
 * The provider also works with the OpenTelemetry support that is built into Deno (`OTEL_DENO=true`). Deno creates a new
 * meter for each call to `getMeter`, so call this function only once in Deno. Deno collects counters and gauges at its
 * intervals (`OTEL_METRIC_EXPORT_INTERVAL`), but not when the program ends.
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
 * @param meter The meter. Get it from a provider's `getMeter`, or, after the program has set its provider, from
 * `metrics.getMeter("workqueue")` of `@opentelemetry/api`.
 * @returns The metrics provider, for the `metrics` option of queues and of `loadConfig`.
 * @throws {TypeError} If `meter` is not a meter.
 */
export function openTelemetryMetrics(meter: Meter): Required<MetricsProvider> {
  if (!hasMethods(meter, "createHistogram", "createObservableCounter", "createObservableGauge")) {
    throw invalidArgument("create metrics", "meter", "must be a Meter of @opentelemetry/api", meter);
  }
  let metrics = metricsOfMeters.get(meter);
  if (metrics === undefined) metricsOfMeters.set(meter, metrics = adaptMetrics(new OpenTelemetryMetrics(meter)));
  return metrics;
}

/** Metrics by meter. If an instrument were created twice, it would be observed twice, and some SDKs would warn. */
const metricsOfMeters = /* @__PURE__ */ new WeakMap<Meter, Required<MetricsProvider>>();

type Method = keyof typeof metricFamilies;

class OpenTelemetryMetrics implements Required<MetricsProvider> {
  readonly #meter: Meter;
  readonly #numbers = new Map<Method, ObservedNumbers>();
  readonly #histograms = new Map<Method, Instrument>();
  /** Names of queues that are gone. */
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
