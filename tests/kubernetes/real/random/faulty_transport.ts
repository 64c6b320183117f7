/** Transport of one process to the cluster for tests, with the faults of its network. */

import type { ApiRequest, ApiResponse, Transport } from "@workqueue/kubernetes";

/** Longest time in milliseconds until TCP keepalive finds a half-open connection. */
const KEEPALIVE = 30_000;

function broken(code: string): Error {
  return Object.assign(new Error(code), { code });
}

/** Returns the answer of a server that refuses a request. */
function answerWith(code: number): ApiResponse {
  const reason = code === 409 ? "Conflict" : "InternalError";
  const status = { kind: "Status", apiVersion: "v1", status: "Failure", code, reason, message: `status ${code}` };
  async function* body() {
    yield JSON.stringify(status);
  }
  return { status: code, headers: { "content-type": "application/json" }, body: body() };
}

/** Connection whose response is being read. */
interface Connection {
  isSilent: boolean;
  fail: (error: Error) => void;
}

/** Failure of a write: the status of an answer, or no answer, before or after the write has an effect. */
export type Failure = number | "drop" | "lose";

/** Transport that forwards everything unless it is told to cause a fault. */
export class FaultyTransport implements Transport {
  readonly #inner: Transport;
  readonly #connections = new Set<Connection>();
  #refuses = false;
  #uncut: PromiseWithResolvers<void> | undefined;
  /** Delay of each chunk, in milliseconds. */
  latency = 0;
  /** Failures of the next writes, except those of leases. */
  readonly failures: Failure[] = [];
  /** Whether the process is gone: nothing that it sends arrives. */
  isDead = false;

  constructor(inner: Transport) {
    this.#inner = inner;
  }

  /** Ends all connections with an error. */
  close(): void {
    for (const connection of [...this.#connections]) connection.fail(broken("ECONNRESET"));
  }

  /** Makes all connections half-open. */
  halfOpen(): void {
    for (const connection of this.#connections) {
      if (connection.isSilent) continue;
      connection.isSilent = true;
      setTimeout(() => connection.fail(broken("ETIMEDOUT")), KEEPALIVE);
    }
  }

  refuse(refuses = true): void {
    this.#refuses = refuses;
    if (refuses) this.close();
  }

  /** Holds back everything, until `isCut` is false. */
  cut(isCut = true): void {
    if (isCut) this.#uncut ??= Promise.withResolvers();
    else {
      this.#uncut?.resolve();
      this.#uncut = undefined;
    }
  }

  reset(): void {
    this.#inner.reset();
  }

  async send(request: ApiRequest): Promise<ApiResponse> {
    if (this.isDead || this.#refuses) throw broken("ECONNREFUSED");
    const { promise: failed, reject } = Promise.withResolvers<never>();
    failed.catch(() => {});
    const connection: Connection = { isSilent: false, fail: reject };
    const abort = () => reject(request.signal.reason);
    request.signal.throwIfAborted();
    request.signal.addEventListener("abort", abort);
    this.#connections.add(connection);
    const end = () => {
      this.#connections.delete(connection);
      request.signal.removeEventListener("abort", abort);
    };
    try {
      await this.#pass(request, connection, failed);
      if (this.isDead) throw broken("ECONNREFUSED");
      const isWrite = request.method !== "GET" && !request.path.includes("/leases");
      const failure = isWrite ? this.failures.shift() : undefined;
      if (failure === "drop") throw broken("ECONNRESET");
      const response = typeof failure === "number"
        ? answerWith(failure)
        : await Promise.race([this.#inner.send(request), failed]);
      if (failure === "lose") throw broken("ECONNRESET");
      await this.#pass(request, connection, failed);
      return { ...response, body: this.#bodyOf(response, request, connection, failed, end) };
    } catch (error) {
      end();
      throw error;
    }
  }

  async *#bodyOf(
    response: ApiResponse,
    request: ApiRequest,
    connection: Connection,
    failed: Promise<never>,
    end: () => void,
  ): AsyncGenerator<string> {
    const chunks = response.body[Symbol.asyncIterator]();
    try {
      for (;;) {
        const next = await Promise.race([chunks.next(), failed]);
        await this.#pass(request, connection, failed);
        if (next.done) return;
        const middle = Math.floor(next.value.length / 2); // a chunk may end anywhere
        if (middle > 0) yield next.value.slice(0, middle);
        yield next.value.slice(middle);
      }
    } finally {
      end();
      chunks.return?.()?.catch(() => {});
    }
  }

  /** Waits as long as the network holds something back. */
  async #pass({ idleTimeout }: ApiRequest, connection: Connection, failed: Promise<never>): Promise<void> {
    if (this.latency > 0) await Promise.race([new Promise((resolve) => setTimeout(resolve, this.latency)), failed]);
    if (this.#uncut === undefined && !connection.isSilent) return;
    const timer = setTimeout(() => connection.fail(broken("ETIMEDOUT")), Math.min(idleTimeout, KEEPALIVE));
    try {
      await Promise.race([connection.isSilent ? failed : this.#uncut!.promise, failed]);
    } finally {
      clearTimeout(timer);
    }
  }
}
