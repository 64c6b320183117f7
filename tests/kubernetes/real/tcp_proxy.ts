/** Proxy in front of an API server that causes faults of the network. It forwards bytes, so TLS passes through. */

import { once } from "node:events";
import { createConnection, createServer, type Server, type Socket } from "node:net";
import { silence } from "./silence.ts";

/** Connection from a client, and the one to the server that belongs to it. */
interface Pair {
  readonly client: Socket;
  readonly server: Socket;
}

/** Proxy that forwards everything unless it is told to cause a fault. */
export class TcpProxy implements AsyncDisposable {
  readonly #listener: Server;
  readonly #pairs = new Set<Pair>();
  #target: URL;
  #refuses = false;
  #isCut = false;
  #latency = 0;
  #closing: ReturnType<typeof setInterval> | undefined;

  /** Number of connections that clients have opened so far. */
  connections = 0;

  private constructor(target: string) {
    this.#target = new URL(target);
    this.#listener = createServer((client) => this.#accept(client));
  }

  /** Starts a proxy to a server. */
  static async start(target: string): Promise<TcpProxy> {
    const proxy = new TcpProxy(target);
    proxy.#listener.listen(0, "127.0.0.1");
    await once(proxy.#listener, "listening");
    return proxy;
  }

  /** URL by which the server is reached through the proxy. */
  get url(): string {
    return `${this.#target.protocol}//127.0.0.1:${(this.#listener.address() as { port: number }).port}`;
  }

  /** Closes all connections, and leads new ones to another server. */
  lead(target: string): void {
    this.#target = new URL(target);
    this.close();
  }

  /** Number of open connections. */
  get open(): number {
    return this.#pairs.size;
  }

  /** Closes all connections. */
  close(): void {
    for (const pair of [...this.#pairs]) this.#destroy(pair);
  }

  /** Closes all connections every `ms`; 0 ends this. */
  closeEvery(ms: number): void {
    clearInterval(this.#closing);
    this.#closing = ms > 0 ? setInterval(() => this.close(), ms) : undefined;
  }

  /** Closes all connections and refuses new ones, until `refuses` is false. */
  refuse(refuses = true): void {
    this.#refuses = refuses;
    if (refuses) this.close();
  }

  /**
   * Makes the connections that are open now half-open: nothing passes, for ever and without a word to either side, and
   * what clients send is not even acknowledged. New connections work.
   */
  halfOpen(): void {
    for (const { client } of this.#pairs) silence(client);
    this.stick();
  }

  /**
   * Lets no more bytes pass on the connections that are open now, for ever and without a word to either side. Unlike
   * those of {@linkcode halfOpen}, the connections are acknowledged, as by a proxy that has lost its server.
   */
  stick(): void {
    for (const pair of this.#pairs) {
      for (const socket of [pair.client, pair.server]) socket.pause().removeAllListeners("data");
    }
  }

  /** Lets no bytes pass on any connection, also new ones, until `isCut` is false. Then, the bytes arrive. */
  cut(isCut = true): void {
    this.#isCut = isCut;
    for (const { client, server } of this.#pairs) {
      for (const socket of [client, server]) isCut ? socket.pause() : socket.resume();
    }
  }

  /** Delays everything by `ms`, in each direction. */
  slow(ms: number): void {
    this.#latency = ms;
  }

  /** Closes all connections and the proxy. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.closeEvery(0);
    this.#listener.close();
    this.close();
    await once(this.#listener, "close");
  }

  #accept(client: Socket): void {
    this.connections++;
    if (this.#refuses) {
      client.on("error", () => {}).destroy();
      return;
    }
    const server = createConnection(Number(this.#target.port), this.#target.hostname);
    const pair = { client, server };
    this.#pairs.add(pair);
    for (const [from, to] of [[client, server], [server, client]] as const) {
      from.setNoDelay(true);
      from.on("data", (bytes) => {
        if (this.#latency > 0) setTimeout(() => to.write(bytes), this.#latency);
        else if (!to.write(bytes)) from.pause();
      });
      from.on("drain", () => {
        if (!this.#isCut) to.resume();
      });
      from.on("error", () => {}); // a "close" event follows
      from.on("end", () => to.end());
      from.on("close", () => {
        this.#pairs.delete(pair);
        to.destroySoon(); // after it has sent what was written to it
      });
      if (this.#isCut) from.pause();
    }
  }

  #destroy(pair: Pair): void {
    this.#pairs.delete(pair);
    pair.client.destroy();
    pair.server.destroy();
  }
}
