import { Buffer } from "node:buffer";
import { type ClientRequest, request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";
import { Exchange } from "./exchange.ts";
import { keepAlive } from "./keep_alive.ts";
import { Pool, type TlsOptions } from "./pool.ts";
import type { ApiRequest, ApiResponse, Transport } from "./transport.ts";

/** Options of {@linkcode HttpTransport}. */
export interface HttpTransportOptions {
  /** URL of the server, such as `https://10.0.0.1:6443`. A path is put in front of the path of each request. */
  server: string;
  /** Returns the current certificates. Called for each request. Another object means that they have changed. */
  tls?: () => TlsOptions | Promise<TlsOptions>;
}

const NO_TLS: TlsOptions = {};

/** Sends requests over connections that are kept for later requests. Each watch has a connection of its own. */
export class HttpTransport implements Transport {
  readonly #server: URL;
  readonly #tls: () => TlsOptions | Promise<TlsOptions>;
  #pool: Pool | undefined;

  /** Creates a transport. Connects when the first request is sent. */
  constructor({ server, tls = () => NO_TLS }: HttpTransportOptions) {
    this.#server = new URL(server);
    this.#tls = tls;
  }

  async send(request: ApiRequest): Promise<ApiResponse> {
    const tls = await this.#tls();
    request.signal.throwIfAborted();
    if (this.#pool?.tls !== tls || this.#pool.isOld) this.reset();
    const pool = this.#pool ??= new Pool(this.#isSecure, tls);
    const dropPool = () => {
      if (this.#pool === pool) this.reset(); // its other connections may be half-open as well
    };
    return await new Exchange(this.#open(request, pool), request, dropPool).response();
  }

  reset(): void {
    this.#pool?.retire();
    this.#pool = undefined;
  }

  get #isSecure(): boolean {
    return this.#server.protocol === "https:";
  }

  #open({ method, path, headers, body, isWatch }: ApiRequest, pool: Pool): ClientRequest {
    const { hostname, port, pathname } = this.#server;
    const request = (this.#isSecure ? httpsRequest : httpRequest)({
      ...pool.tls,
      agent: isWatch ? pool.watches : pool.requests,
      host: hostname.replace(/^\[|\]$/g, ""), // of an IPv6 address
      ...(port !== "" && { port }),
      method,
      path: pathname.replace(/\/$/, "") + path,
      headers: { ...headers, ...(body !== undefined && { "content-length": `${Buffer.byteLength(body)}` }) },
    });
    if (isWatch) request.once("socket", keepAlive);
    request.end(body);
    return request;
  }
}
