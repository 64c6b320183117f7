import type { MetricOptions } from "@opentelemetry/api";
import type { MetricFamily } from "@workqueue/core/metrics";

/** Units in [UCUM](https://ucum.org), which OpenTelemetry uses. Units of counts are in braces. */
const UNITS: Record<MetricFamily["unit"], string> = {
  items: "{item}",
  adds: "{add}",
  attempts: "{attempt}",
  handlers: "{handler}",
  seconds: "s",
};

/**
 * Returns the options of a family's instrument. Doesn't declare counts as integers because Deno's instruments reject
 * that.
 */
export function optionsOf({ help, unit, buckets }: MetricFamily): MetricOptions {
  return {
    description: help,
    unit: UNITS[unit],
    ...(buckets && { advice: { explicitBucketBoundaries: [...buckets] } }),
  };
}
