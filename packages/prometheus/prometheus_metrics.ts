import type { Duration, MetricsProvider } from "@workqueue/core";
import {
  argumentError,
  hasMethods,
  invalidArgument,
  requireDuration,
  requireRules,
  type Rule,
} from "@workqueue/core/internal";
import { adaptMetrics, metricFamilies, type MetricFamily } from "@workqueue/core/metrics";
import type * as client from "prom-client";
import { register as globalRegister } from "prom-client";
import { createCounter, createGauge, createHistogram, type Instrument } from "./instruments.ts";
import { Lifetimes } from "./lifetimes.ts";

const ACTION = "create Prometheus metrics";

/** Members of a prom-client `Registry` that this package uses. The registry may have any content type. */
export interface Register {
  /** Registers a metric. */
  registerMetric(metric: never): void;
  /** Returns the metric with the given name, or `undefined` if there is no such metric. */
  getSingleMetric(name: string): unknown;
}

/** Options of {@linkcode prometheusMetrics}. */
export interface PrometheusOptions {
  /**
   * Time for which the last values of a queue are kept after the queue is gone (shut down and empty), so that the
   * values can be scraped. Must not be negative. Use more than two scrape intervals.
   *
   * @default {"5m"}
   */
  keepFor?: Duration | undefined;
}

const ANY: Rule = [() => true, ""]; // the duration is checked when it is parsed

/**
 * Creates the metrics of queues and their pools in a register of [prom-client](https://github.com/siimon/prom-client).
 * Names, labels, units and buckets are the same as in Kubernetes, so tools for Kubernetes can show the metrics.
 * `docs/operate.md` has a table of metrics, a dashboard and alerts.
 *
 * One provider serves any number of queues. Another call with the same register returns the existing provider with its
 * existing options. Queues with the same name in one process share their series: their counts add up, and each new
 * gauge value replaces the previous value.
 *
 * A queue's series are removed after the queue has been shut down and empty for {@linkcode PrometheusOptions.keepFor}.
 * Until a queue's series are removed, a new queue with the same name continues the series. Series are removed during
 * scrapes, without a timer.
 *
 * @example Usage
 * ```ts
 * import { createWorkQueue } from "@workqueue/core";
 * import { prometheusMetrics } from "@workqueue/prometheus";
 * import { assertStringIncludes } from "@std/assert";
 * import { register } from "prom-client";
 *
 * const metrics = prometheusMetrics();
 * createWorkQueue<string>({ name: "photos", metrics }).add("cat.jpg");
 *
 * assertStringIncludes(await register.metrics(), `workqueue_depth{name="photos"} 1`);
 * ```
 *
 * @param register The register for the metrics. Default: the global `register` of prom-client.
 * @param options The options.
 * @returns The provider, for the `metrics` option of queues.
 * @throws {TypeError} If `register` is not a register, or if an option is unknown or of the wrong type.
 * @throws {RangeError} If `keepFor` is negative or not finite.
 * @throws {Error} If the register already contains another metric with the name of one of these metrics.
 */
export function prometheusMetrics(
  register: Register = globalRegister,
  options: PrometheusOptions = {},
): Required<MetricsProvider> {
  if (!hasMethods(register, "registerMetric", "getSingleMetric")) {
    throw invalidArgument(ACTION, "register", "must be a register of prom-client", register);
  }
  requireRules(ACTION, options, { keepFor: ANY });
  const keepFor = requireDuration(ACTION, "keepFor", options.keepFor ?? "5m");
  if (keepFor < 0) throw invalidArgument(ACTION, "keepFor", "must be a non-negative duration", keepFor);

  return providerIn(register) ?? createProvider(register, keepFor);
}

/**
 * Key of the property that holds a metric's provider. Other instances of this package find the provider by this key.
 */
const PROVIDER = Symbol.for("workqueue.prometheus");

type Provider = Required<MetricsProvider>;

/**
 * Returns the provider of the metrics in a register. Returns `undefined` if the register has none of these metrics.
 *
 * @throws {Error} If the register contains another metric with the name of one of these metrics.
 */
function providerIn(register: Register): Provider | undefined {
  let provider: Provider | undefined;
  for (const { name } of Object.values(metricFamilies)) {
    const metric = register.getSingleMetric(name) as { [PROVIDER]?: Provider } | undefined;
    if (metric === undefined) continue;
    provider = metric[PROVIDER];
    if (provider === undefined) {
      throw argumentError(
        ACTION,
        `'register' has another metric "${name}" already: remove it, or give a register of its own`,
        Error,
      );
    }
  }
  return provider;
}

function createProvider(register: Register, keepFor: number): Provider {
  const lifetimes = new Lifetimes(keepFor);
  const instruments: Instrument[] = [];
  const collect = () => {
    for (const queue of lifetimes.takeOver()) for (const instrument of instruments) instrument.remove(queue);
  };
  function create<N>(
    make: (family: MetricFamily, config: typeof sum, collect: () => void) => Instrument<N>,
    method: keyof typeof metricFamilies,
    config = sum,
  ): Instrument<N>["of"] {
    const instrument = make(metricFamilies[method], config, collect);
    instruments.push(instrument);
    return (queue, label) => {
      lifetimes.began(queue);
      return instrument.of(queue, label);
    };
  }
  // Each aggregator combines the values of a cluster's processes. `registers` is empty, because the metrics are
  // registered after all of them have been created.
  const sum = { registers: [], aggregator: "sum" as client.Aggregator };
  const max = { registers: [], aggregator: "max" as client.Aggregator };

  const provider: Provider = adaptMetrics({
    depth: create(createGauge, "depth"),
    adds: create(createCounter, "adds"),
    queueLatency: create(createHistogram, "queueLatency"),
    workDuration: create(createHistogram, "workDuration"),
    unfinishedWork: create(createGauge, "unfinishedWork"),
    longestRunningProcessor: create(createGauge, "longestRunningProcessor", max),
    retries: create(createCounter, "retries"),
    priorityDepth: create(createGauge, "priorityDepth"),
    delayed: create(createGauge, "delayed"),
    blocked: create(createGauge, "blocked"),
    oldestReady: create(createGauge, "oldestReady", max),
    active: create(createGauge, "active"),
    concurrency: create(createGauge, "concurrency"),
    failures: create(createCounter, "failures"),
    givenUp: create(createCounter, "givenUp"),
    gone: (queue: string) => lifetimes.ended(queue),
  });
  for (const { metric } of instruments) {
    register.registerMetric(Object.assign(metric, { [PROVIDER]: provider }) as never);
  }
  return provider;
}
