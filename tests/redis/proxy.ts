/** Proxy between a client and its server that simulates network failures. */

import { once } from "node:events";
import { createConnection, createServer, type Server, type Socket } from "node:net";

/** Connection from a client to the proxy, and the matching connection from the proxy to the server. */
interface Pair {
  readonly client: Socket;
  readonly server: Socket;
}

/** Reply that the proxy must lose. */
interface Loss {
  readonly request: string;
  readonly isLost: () => void;
}

/** Proxy that forwards all data unless a test requests a failure. */
export class RedisProxy implements AsyncDisposable {
  readonly #listener: Server;
  readonly #pairs = new Set<Pair>();
  readonly #losses = new Set<Loss>();
  readonly #target: URL;
  #refuses = false;
  #holds = false;

  /** Number of connections that clients have opened so far. */
  connections = 0;
  /** Data forwarded from clients, one entry per chunk. */
  readonly requests: string[] = [];

  private constructor(url: string) {
    this.#target = new URL(url);
    this.#listener = createServer((client) => this.#accept(client));
  }

  /** Starts a proxy to the server with this URL. */
  static async start(url: string): Promise<RedisProxy> {
    const proxy = new RedisProxy(url);
    proxy.#listener.listen(0, "127.0.0.1");
    await once(proxy.#listener, "listening");
    return proxy;
  }

  /** Number of open connections. */
  get open(): number {
    return this.#pairs.size;
  }

  /** URL that reaches the server through the proxy. */
  get url(): string {
    const url = new URL(this.#target);
    url.hostname = "127.0.0.1";
    url.port = String((this.#listener.address() as { port: number }).port);
    return url.href;
  }

  /**
   * Forwards the next request that contains this text and drops its reply by closing the connection. Resolves once the
   * server has answered.
   */
  loseReply(request: string): Promise<void> {
    return new Promise((resolve) => {
      const loss: Loss = { request, isLost: resolve };
      this.#losses.add(loss);
    });
  }

  /** Closes every connection. */
  dropAll(): void {
    for (const { client, server } of this.#pairs) {
      client.destroy();
      server.destroy();
    }
  }

  /** Refuses new connections, or accepts them again if `refuses` is false. */
  refuse(refuses = true): void {
    this.#refuses = refuses;
  }

  /**
   * Holds back all data in both directions, as if the peers were unreachable. If `holds` is false, forwards the data
   * again.
   */
  hold(holds = true): void {
    this.#holds = holds;
    for (const { client, server } of this.#pairs) {
      for (const socket of [client, server]) holds ? socket.pause() : socket.resume();
    }
  }

  /** Holds back replies, as if the server were slow. If `holds` is false, forwards them again. Requests still pass. */
  holdReplies(holds = true): void {
    for (const { server } of this.#pairs) holds ? server.pause() : server.resume();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.dropAll();
    this.#listener.close();
    await once(this.#listener, "close");
  }

  #accept(client: Socket): void {
    this.connections++;
    if (this.#refuses) {
      client.on("error", () => {}).destroy();
      return;
    }
    const server = createConnection(Number(this.#target.port || 6379), this.#target.hostname);
    const pair = { client, server };
    this.#pairs.add(pair);
    let loss: Loss | undefined;
    client.on("data", (bytes) => {
      const request = bytes.toString();
      this.requests.push(request);
      for (const one of this.#losses) {
        if (loss !== undefined || !request.includes(one.request)) continue;
        loss = one;
        this.#losses.delete(one);
      }
      server.write(bytes);
    });
    server.on("data", (bytes) => {
      if (loss === undefined) {
        client.write(bytes);
        return;
      }
      client.destroy();
      server.destroy();
      loss.isLost();
    });
    for (const [socket, other] of [[client, server], [server, client]] as const) {
      socket.on("error", () => {}); // a "close" event follows
      socket.on("close", () => {
        other.destroy();
        this.#pairs.delete(pair);
      });
      if (this.#holds) socket.pause();
    }
  }
}
