import type * as api from "@opentelemetry/api";

/** Factory of instruments: `Meter` of `@opentelemetry/api`. */
export type Meter = api.Meter;

/** Factory of spans: `Tracer` of `@opentelemetry/api`. */
export type Tracer = api.Tracer;
