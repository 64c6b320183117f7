/** Spans of the real SDK that are sent to a receiver. An active span stays active across awaits. */

import { context, trace } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { BatchSpanProcessor, TracerProvider, type TracerProviderOptions } from "@opentelemetry/sdk-trace";
import type { Tracer } from "@workqueue/opentelemetry";
import { attributesOf, OtlpReceiver, type Span } from "./otlp_receiver.ts";

export class SentSpans implements AsyncDisposable {
  readonly tracer: Tracer;
  readonly #provider: TracerProvider;
  readonly #receiver: OtlpReceiver;

  private constructor(receiver: OtlpReceiver, options: TracerProviderOptions) {
    const exporter = new OTLPTraceExporter({ url: `${receiver.url}/v1/traces` });
    this.#receiver = receiver;
    this.#provider = new TracerProvider({ ...options, spanProcessors: [new BatchSpanProcessor({ exporter })] });
    this.tracer = this.#provider.getTracer("workqueue");
    context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  }

  static async start(options: TracerProviderOptions = {}): Promise<SentSpans> {
    return new SentSpans(await OtlpReceiver.start(), options);
  }

  /** Returns all ended spans, in the order in which they ended. */
  async spans(): Promise<Span[]> {
    await this.#provider.forceFlush();
    return this.#receiver.spans();
  }

  /** Returns the outcomes of attempts, in the order in which the attempts ended. */
  async outcomes(): Promise<unknown[]> {
    return (await this.spans()).map((span) => attributesOf(span)["workqueue.outcome"]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#provider.shutdown();
    await this.#receiver[Symbol.asyncDispose]();
    context.disable();
    trace.disable();
  }
}
