import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { HttpTransport, type HttpTransportOptions } from "../../../packages/kubernetes/client/http_transport.ts";
import type { ApiRequest, ApiResponse } from "@workqueue/kubernetes";

/** Answers a request, whose body has arrived. */
export type Answer = (request: IncomingMessage, response: ServerResponse, body: string) => unknown;

/** Server on the loopback interface that answers as the test says. */
export class ApiServer implements AsyncDisposable {
  /** Methods and paths of all requests, in order. */
  readonly requests: string[] = [];
  /** Connections that were opened, in order. */
  readonly connections: Socket[] = [];
  readonly #news = new EventTarget();
  readonly #server: Server;

  private constructor(answer: Answer) {
    this.#server = createServer((request, response) => {
      this.requests.push(`${request.method} ${request.url}`);
      this.#news.dispatchEvent(new Event("request"));
      let body = "";
      request.setEncoding("utf8");
      request.on("data", (chunk) => body += chunk).once("end", () => answer(request, response, body));
    });
    this.#server.keepAliveTimeout = 0;
    this.#server.on("connection", (socket) => this.connections.push(socket));
  }

  /** Starts a server. */
  static async start(answer: Answer): Promise<ApiServer> {
    const server = new ApiServer(answer);
    await once(server.#server.listen(0, "127.0.0.1"), "listening");
    return server;
  }

  get url(): string {
    return `http://localhost:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Resolves when a request has arrived, given as its method and path. */
  async received(request: string): Promise<void> {
    while (!this.requests.includes(request)) {
      await new Promise((resolve) => this.#news.addEventListener("request", resolve, { once: true }));
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = once(this.#server, "close");
    this.#server.close();
    this.#server.closeAllConnections();
    for (const connection of this.connections) connection.destroy();
    await closed;
  }
}

/** Sends a request with defaults for what the test doesn't say. */
export function send(transport: HttpTransport, request: Partial<ApiRequest> = {}): Promise<ApiResponse> {
  return transport.send({
    method: "GET",
    path: "/",
    headers: {},
    signal: new AbortController().signal,
    idleTimeout: 10_000,
    isAlone: false,
    ...request,
  });
}

/** Returns the body of a response. */
export async function textOf({ body }: ApiResponse): Promise<string> {
  let text = "";
  for await (const chunk of body) text += chunk;
  return text;
}

/** Creates a transport. It closes its connections when it is disposed. */
export function transportTo(options: HttpTransportOptions): HttpTransport & Disposable {
  const transport = new HttpTransport(options);
  return Object.assign(transport, { [Symbol.dispose]: () => transport.reset() });
}
