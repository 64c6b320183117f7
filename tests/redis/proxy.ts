/** What stands between a client and its server, and takes away what a network can take away. */

import { once } from "node:events";
import { createConnection, createServer, type Server, type Socket } from "node:net";

/** A connection of a client, and the one to the server that it is passed on to. */
interface Pair {
  readonly client: Socket;
  readonly server: Socket;
}

/** A reply that is to be lost. */
interface Loss {
  readonly request: string;
  readonly isLost: () => void;
}

/** Passes on what comes, until it is told otherwise. */
export class RedisProxy implements AsyncDisposable {
  readonly #listener: Server;
  readonly #pairs = new Set<Pair>();
  readonly #losses = new Set<Loss>();
  readonly #target: URL;
  #refuses = false;
  #holds = false;

  /** How many connections there have been. */
  connections = 0;
  /** What clients have sent and was passed on, all of it, a line for each time something came. */
  readonly requests: string[] = [];

  private constructor(url: string) {
    this.#target = new URL(url);
    this.#listener = createServer((client) => this.#accept(client));
  }

  /** Stands before the server with this URL. */
  static async start(url: string): Promise<RedisProxy> {
    const proxy = new RedisProxy(url);
    proxy.#listener.listen(0, "127.0.0.1");
    await once(proxy.#listener, "listening");
    return proxy;
  }

  /** How many connections there are. */
  get open(): number {
    return this.#pairs.size;
  }

  /** The server's URL by way of the proxy. */
  get url(): string {
    const url = new URL(this.#target);
    url.hostname = "127.0.0.1";
    url.port = String((this.#listener.address() as { port: number }).port);
    return url.href;
  }

  /**
   * Lets the next request that holds this text through, and cuts the connection when the server has answered it,
   * before the client learns. Resolves then.
   */
  loseReply(request: string): Promise<void> {
    return new Promise((resolve) => {
      const loss: Loss = { request, isLost: resolve };
      this.#losses.add(loss);
    });
  }

  /** Breaks every connection. */
  dropAll(): void {
    for (const { client, server } of this.#pairs) {
      client.destroy();
      server.destroy();
    }
  }

  /** Refuses new connections from now on, or no more. */
  refuse(refuses = true): void {
    this.#refuses = refuses;
  }

  /** Holds back what comes, from both sides, as if the other end had vanished; or passes it on again. */
  hold(holds = true): void {
    this.#holds = holds;
    for (const { client, server } of this.#pairs) {
      for (const socket of [client, server]) holds ? socket.pause() : socket.resume();
    }
  }

  /** Holds back replies, as if they were slow; or passes them on again. Requests go on. */
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
      socket.on("error", () => {}); // its end follows
      socket.on("close", () => {
        other.destroy();
        this.#pairs.delete(pair);
      });
      if (this.#holds) socket.pause();
    }
  }
}
