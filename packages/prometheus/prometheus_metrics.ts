import type { Duration, MetricsProvider } from "@workqueue/core";
import {
  argumentError,
  hasMethods,
  invalidArgument,
  requireDuration,
  requireRules,
  type Rule,
} from "@workqueue/core/internal";
import { metricFamilies, type MetricFamily } from "@workqueue/core/metrics";
import type * as client from "prom-client";
import { register as globalRegister } from "prom-client";
import { createCounter, createGauge, createHistogram, type Instrument } from "./instruments.ts";
import { Lifetimes } from "./lifetimes.ts";

const ACTION = "create Prometheus metrics";

/** A `Registry` of prom-client, in whichever of its formats: as much of it as is used here. */
export interface Register {
  /** Takes a metric in. */
  registerMetric(metric: never): void;
  /** Finds the metric of a name. */
  getSingleMetric(name: string): unknown;
}

/** Options of {@linkcode prometheusMetrics}. */
export interface PrometheusOptions {
  /**
   * How long the last values of a queue that is gone are still there to be scraped. From 0 on; it should be longer than
   * two scrapes are apart.
   *
   * @default {"5m"}
   */
  keepFor?: Duration | undefined;
}

const ANY: Rule = [() => true, ""]; // a duration, which is checked where it is read

/**
 * Makes the metrics of queues, and of the pools that work on them, in a register of
 * [prom-client](https://github.com/siimon/prom-client): names, labels, units and buckets are those of Kubernetes, so
 * that what is made for these shows them. `docs/operate.md` has the table, a dashboard and alerts.
 *
 * One provider is for any number of queues. Called again for a register, it gives the provider that is there, with the
 * options that it has. Queues of one name in one process share their series: what they count adds up, and of what they
 * set the latest is shown.
 *
 * The series of a queue are removed some time after it was shut down and emptied, see
 * {@linkcode PrometheusOptions.keepFor}; those of a new queue of that name go on where the old ones were. That is
 * looked at when somebody scrapes, and sets no timer.
 *
 * @example Usage
 * ```ts
 * import { createWorkQueue } from "@workqueue/core";
 * import { prometheusMetrics } from "@workqueue/prometheus";
 * import { assertStringIncludes } from "@std/assert";
 * import { register } from "prom-client";
 *
 * const metrics = prometheusMetrics();
 * createWorkQueue<string>({ name: "images", metrics }).add("cat.jpg");
 *
 * assertStringIncludes(await register.metrics(), `workqueue_depth{name="images"} 1`);
 * ```
 *
 * @param register Where the metrics are shown. Default prom-client's own `register`.
 * @param options How long the values of a queue that is gone are kept.
 * @returns What queues take as `metrics`.
 * @throws {TypeError} If `register` is none, or an option is unknown or of the wrong type.
 * @throws {RangeError} If `keepFor` is negative or not finite.
 * @throws {Error} If the register has a metric under one of the names that was not made here.
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

/** Where each of its families has the provider, so that another copy of this package finds it. */
const PROVIDER = Symbol.for("workqueue.prometheus");

type Provider = Required<MetricsProvider>;

/** The provider that made the metrics which a register has under our names. */
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
  // How prom-client puts the processes of a cluster together. They are registered only when all of them are made.
  const sum = { registers: [], aggregator: "sum" as client.Aggregator };
  const max = { registers: [], aggregator: "max" as client.Aggregator };

  const provider: Provider = {
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
    gone: (queue) => lifetimes.ended(queue),
  };
  for (const { metric } of instruments) {
    register.registerMetric(Object.assign(metric, { [PROVIDER]: provider }) as never);
  }
  return provider;
}
