import { A_FUNCTION, requireRule, requireRules, type Rule } from "@workqueue/core/internal";
import { Buffer } from "node:buffer";
import { type ClientRequest, request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";
import { Exchange } from "./exchange.ts";
import { keepAlive } from "./keep_alive.ts";
import { Pool, type TlsOptions } from "./pool.ts";
import type { ApiRequest, ApiResponse, Transport } from "./transport.ts";
import { Watchdog } from "./watchdog.ts";

/** Options of {@linkcode HttpTransport}. */
export interface HttpTransportOptions {
  /** URL of the server, such as `https://10.0.0.1:6443`. A path is put in front of the path of each request. */
  server: string;
  /** Returns the current certificates. Called for each request. Another object means that they have changed. */
  tls?: () => TlsOptions | Promise<TlsOptions>;
}

/** Longest time in milliseconds in which a quiet server must answer. */
const ASK_TIMEOUT = 15_000;

const A_SERVER: Rule = [
  (value: unknown) => typeof value === "string" && /^https?:/.test(value) && URL.canParse(value),
  "must be a URL such as https://10.0.0.1:6443",
];

const NO_TLS: TlsOptions = {};

/** Sends requests over connections that are kept for later requests. Each watch has a connection of its own. */
export class HttpTransport implements Transport {
  readonly #server: URL;
  readonly #tls: () => TlsOptions | Promise<TlsOptions>;
  readonly #watchdog: Watchdog;
  #pool: Pool | undefined;
  /** Headers of the latest request, with its credentials. */
  #headers: ApiRequest["headers"] = {};

  /**
   * Creates a transport. Connects when the first request is sent.
   *
   * @throws {TypeError} If an option is missing, unknown or of the wrong type.
   */
  constructor(options: HttpTransportOptions) {
    requireRules("create transport", options, { server: A_SERVER, tls: A_FUNCTION });
    const { server, tls = () => NO_TLS } = options;
    requireRule("create transport", "server", server, A_SERVER);
    this.#server = new URL(server);
    this.#tls = tls;
    const request = { method: "GET", path: "/version", signal: new AbortController().signal, isAlone: false };
    this.#watchdog = new Watchdog(async () => {
      const { body } = await this.send({ ...request, headers: this.#headers, idleTimeout: ASK_TIMEOUT });
      for await (const _ of body);
    });
  }

  /** Sends a request. */
  async send(request: ApiRequest): Promise<ApiResponse> {
    this.#headers = request.headers;
    const tls = await this.#tls();
    request.signal.throwIfAborted();
    if (this.#pool?.tls !== tls || this.#pool.isOld) this.reset();
    const pool = this.#pool ??= new Pool(this.#isSecure, tls);
    const exchange: Exchange = new Exchange(this.#open(request, pool), request, {
      onArrival: () => this.#watchdog.heard(),
      onBroken: (silence) => {
        if (this.#pool === pool) this.reset(); // its other connections may be half-open as well
        if (silence > 0 && !request.isAlone) this.#watchdog.silent(silence); // a list by a watch may only be slow
      },
      onEnd: () => this.#watchdog.delete(exchange),
    });
    if (request.isAlone) this.#watchdog.add(exchange);
    return await exchange.response();
  }

  reset(): void {
    this.#pool?.retire();
    this.#pool = undefined;
  }

  get #isSecure(): boolean {
    return this.#server.protocol === "https:";
  }

  #open({ method, path, headers, body, isAlone }: ApiRequest, pool: Pool): ClientRequest {
    const { hostname, port, pathname } = this.#server;
    const request = (this.#isSecure ? httpsRequest : httpRequest)({
      ...pool.tls,
      agent: isAlone ? pool.alone : pool.requests,
      host: hostname.replace(/^\[|\]$/g, ""), // of an IPv6 address
      ...(port !== "" && { port }),
      method,
      path: pathname.replace(/\/$/, "") + path,
      headers: { ...headers, ...(body !== undefined && { "content-length": `${Buffer.byteLength(body)}` }) },
    });
    if (isAlone) request.once("socket", keepAlive);
    return request;
  }
}
