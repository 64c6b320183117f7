import type { MetricOptions } from "@opentelemetry/api";
import type { MetricFamily } from "@workqueue/core/metrics";

/** In [UCUM](https://ucum.org), as OpenTelemetry wants them: what is counted stands in braces. */
const UNITS: Record<MetricFamily["unit"], string> = {
  items: "{item}",
  adds: "{add}",
  attempts: "{attempt}",
  handlers: "{handler}",
  seconds: "s",
};

/** What an instrument is told of its family. Not that counts are whole numbers: Deno's own instruments refuse that. */
export function optionsOf({ help, unit, buckets }: MetricFamily): MetricOptions {
  return {
    description: help,
    unit: UNITS[unit],
    ...(buckets && { advice: { explicitBucketBoundaries: [...buckets] } }),
  };
}
