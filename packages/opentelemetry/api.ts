import type * as api from "@opentelemetry/api";

/** What makes instruments, as `@opentelemetry/api` has it. */
export type Meter = api.Meter;

/** What makes spans, as `@opentelemetry/api` has it. */
export type Tracer = api.Tracer;
