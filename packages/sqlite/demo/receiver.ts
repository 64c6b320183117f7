import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as delay } from "node:timers/promises";

/** Milliseconds that the receiver needs for a webhook. */
const WORK = 60;

/** Receiver of the webhooks. It has each event once: it recognizes a repeated one by its key. */
export class Receiver {
  readonly #server: Server;
  readonly #failing: Set<string>;
  readonly received = new Set<string>();
  /** Number of requests for events that were received before. */
  repeated = 0;
  /** Number of requests that were answered 503. */
  refused = 0;
  #onReceived: (event: string) => void;

  /**
   * @param failing The events whose first request is answered 503.
   * @param onReceived Called with each event.
   */
  constructor(failing: readonly string[], onReceived: (event: string) => void) {
    this.#failing = new Set(failing);
    this.#onReceived = onReceived;
    this.#server = createServer(async (request, response) => {
      await delay(WORK);
      response.writeHead(this.#receive(String(request.headers["idempotency-key"]))).end();
    });
  }

  /** Starts the receiver. Resolves to its URL. */
  async start(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/`;
  }

  stop(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  /** Returns the status of the answer. */
  #receive(event: string): number {
    if (this.#failing.delete(event)) {
      this.refused++;
      return 503;
    }
    if (this.received.has(event)) {
      this.repeated++;
    } else {
      this.received.add(event);
      this.#onReceived(event);
    }
    return 200;
  }
}
