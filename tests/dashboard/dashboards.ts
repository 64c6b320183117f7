/** Test client for a dashboard. */

import { assertEquals } from "@std/assert";
import { createDashboard, type DashboardOptions, type QueueDetails, type State } from "@workqueue/dashboard";
import { flush } from "../queue_helpers.ts";

export const ORIGIN = "http://localhost:8000";

/** Dashboard that allows every request by default, with methods that send requests to it. */
export class Asked implements Disposable {
  readonly dashboard: ReturnType<typeof createDashboard>;

  constructor(options: Omit<DashboardOptions, "view"> & { view?: DashboardOptions["view"] }) {
    this.dashboard = createDashboard({ view: () => true, control: () => true, ...options });
  }

  [Symbol.dispose](): void {
    this.dashboard[Symbol.dispose]();
  }

  async get(path: string, init: RequestInit = {}): Promise<Response> {
    return await this.dashboard.fetch(new Request(`${ORIGIN}/queues/${path}`, init));
  }

  async state(): Promise<State> {
    return await (await this.get("api/state")).json();
  }

  /** Returns the row of the first queue. */
  async row() {
    return (await this.state()).queues[0]!;
  }

  async verdict(): Promise<[verdict: string, reason: string]> {
    const { verdict, reason } = await this.row();
    return [verdict, reason];
  }

  async details(name: string, query = ""): Promise<QueueDetails> {
    const response = await this.get(`api/queues/${encodeURIComponent(name)}${query}`);
    assertEquals(response.status, 200);
    return await response.json();
  }

  /** Sends the request that a button on the page would send. Returns the status and the message. */
  async post(path: string, body: unknown = {}, headers: Record<string, string> = {}): Promise<[number, string]> {
    const { instance } = await this.state();
    const response = await this.get(path, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        "sec-fetch-site": "same-origin",
        "x-workqueue-instance": instance,
        ...headers,
      },
      body: typeof body === "string" ? body : JSON.stringify(body),
    });
    const answer = await response.json();
    return [response.status, answer.message ?? answer.error];
  }

  /** Watches the events of `api/events`. */
  async watch(query = "", init: RequestInit = {}): Promise<Watching> {
    const response = await this.get(`api/events${query}`, init);
    assertEquals([response.status, response.headers.get("content-type")], [200, "text/event-stream"]);
    return new Watching(response.body!);
  }
}

/** Event received from a stream. */
export interface SentEvent {
  readonly event: string;
  // deno-lint-ignore no-explicit-any -- tests check the data of an event
  readonly data: any;
}

/** Reads events as a browser does. */
export class Watching {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #decoder = new TextDecoder();
  readonly events: SentEvent[] = [];
  hasEnded = false;
  readonly done: Promise<void>;
  #rest = "";

  constructor(body: ReadableStream<Uint8Array>) {
    this.#reader = body.getReader();
    this.done = this.#read();
  }

  async #read(): Promise<void> {
    try {
      for (;;) {
        const { done, value } = await this.#reader.read();
        if (done) break;
        this.#take(this.#decoder.decode(value, { stream: true }));
      }
    } catch {
      // The connection has ended.
    }
    this.hasEnded = true;
  }

  #take(text: string): void {
    const parts = (this.#rest + text).split("\n\n");
    this.#rest = parts.pop()!;
    for (const part of parts) {
      const [, event, data] = /^event: (\w+)\ndata: (.*)$/.exec(part) ?? [];
      if (event !== undefined) this.events.push({ event, data: JSON.parse(data!) });
    }
  }

  /** Returns the events since the last call. */
  async take(): Promise<SentEvent[]> {
    await flush();
    return this.events.splice(0);
  }

  async end(): Promise<void> {
    await this.#reader.cancel();
  }
}
