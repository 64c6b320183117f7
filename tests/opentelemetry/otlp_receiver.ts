/**
 * Receiver of metrics and spans that are sent over OTLP/HTTP with JSON encoding. The types describe only the fields
 * that tests use.
 */

import type { IncomingMessage } from "node:http";
import { HttpServer } from "./http_server.ts";

type Value = { stringValue: string } | { intValue: number | string } | { doubleValue: number } | { boolValue: boolean };
type KeyValue = { key: string; value: Value };

interface Point {
  attributes: KeyValue[];
  asDouble?: number;
  count?: number | string;
  sum?: number;
  explicitBounds?: number[];
  bucketCounts?: (number | string)[];
}

interface Points {
  dataPoints: Point[];
  aggregationTemporality?: number;
  isMonotonic?: boolean;
}

export interface Metric {
  name: string;
  description: string;
  unit: string;
  sum?: Points;
  gauge?: Points;
  histogram?: Points;
}

export interface Span {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  kind: number;
  attributes: KeyValue[];
  links?: { traceId: string; spanId: string }[];
  events?: { name: string; attributes: KeyValue[] }[];
  status?: { code?: number; message?: string };
}

/** Numeric constants of OTLP. */
export const DELTA = 1;
export const CUMULATIVE = 2;
export const CONSUMER = 5;
export const ERROR = 2;

type Body =
  & { resourceMetrics?: { scopeMetrics: { metrics: Metric[] }[] }[] }
  & { resourceSpans?: { scopeSpans: { spans: Span[] }[] }[] };

/** Returns attributes as an object. */
export function attributesOf({ attributes }: { attributes: KeyValue[] }): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => {
    const [given] = Object.values(value) as unknown[];
    return [key, "intValue" in value ? Number(given) : given];
  }));
}

export class OtlpReceiver implements AsyncDisposable {
  /** Request bodies, by path. */
  readonly #bodies: ReadonlyMap<string, Body[]>;
  readonly #server: HttpServer;

  /** Event target that gets an "arrival" event for each request. */
  readonly #arrivals: EventTarget;

  private constructor(server: HttpServer, bodies: Map<string, Body[]>, arrivals: EventTarget) {
    this.#server = server;
    this.#bodies = bodies;
    this.#arrivals = arrivals;
  }

  static async start(): Promise<OtlpReceiver> {
    const bodies = new Map<string, Body[]>();
    const arrivals = new EventTarget();
    const server = await HttpServer.start(async (request, response) => {
      const path = request.url!;
      bodies.set(path, [...bodies.get(path) ?? [], JSON.parse(await textOf(request))]);
      response.writeHead(200, { "content-type": "application/json" }).end("{}");
      arrivals.dispatchEvent(new Event("arrival"));
    });
    return new OtlpReceiver(server, bodies, arrivals);
  }

  get url(): string {
    return this.#server.url;
  }

  /** Returns the metrics of each export to the path, by the metric's name. */
  metrics(path = "/v1/metrics"): Record<string, Metric>[] {
    return this.#sentTo(path).map(({ resourceMetrics = [] }) => {
      const metrics = resourceMetrics.flatMap(({ scopeMetrics }) => scopeMetrics.flatMap(({ metrics }) => metrics));
      return Object.fromEntries(metrics.map((metric) => [metric.name, metric]));
    });
  }

  /** Returns all spans, in the order in which they ended. */
  spans(path = "/v1/traces"): Span[] {
    return this.#sentTo(path).flatMap(({ resourceSpans = [] }) =>
      resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans))
    );
  }

  /** Waits until `find` returns a value; calls `find` again after each request. */
  async until<Found>(find: () => Found | undefined): Promise<Found> {
    for (let found = find();; found = find()) {
      if (found !== undefined) return found;
      await new Promise((resolve) => this.#arrivals.addEventListener("arrival", resolve, { once: true }));
    }
  }

  #sentTo(path: string): Body[] {
    return this.#bodies.get(path) ?? [];
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#server[Symbol.asyncDispose]();
  }
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return await new Blob(chunks as Uint8Array<ArrayBuffer>[]).text();
}
