import type { MetricOptions } from "@opentelemetry/api";
import type { MetricFamily } from "@workqueue/core/metrics";

/** Units in the [UCUM](https://ucum.org) notation, which OpenTelemetry uses. Units of counts are in braces. */
const UNITS: Record<MetricFamily["unit"], string> = {
  items: "{item}",
  adds: "{add}",
  attempts: "{attempt}",
  handlers: "{handler}",
  seconds: "s",
};

/**
 * Returns the options for a family's instrument. Counts are not declared as integers, because Deno's instruments reject
 * such a declaration.
 */
export function optionsOf({ help, unit, buckets }: MetricFamily): MetricOptions {
  return {
    description: help,
    unit: UNITS[unit],
    ...(buckets && { advice: { explicitBucketBoundaries: [...buckets] } }),
  };
}
