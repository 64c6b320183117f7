import { Agent as HttpAgent } from "node:http";
import { Agent as HttpsAgent } from "node:https";
import { systemClock } from "@workqueue/core";

/** Certificates and checks of HTTPS connections, in the words of `node:tls`. */
export interface TlsOptions {
  /** Certificates of authorities, in PEM form. The runtime's own if omitted. */
  readonly ca?: string;
  /** Certificate of the client, in PEM form. */
  readonly cert?: string;
  /** Private key of the client's certificate, in PEM form. */
  readonly key?: string;
  /** Name in the server's certificate, if it isn't the host of the URL. */
  readonly servername?: string;
  /** Whether the server's certificate is checked. Default: `true`. */
  readonly rejectUnauthorized?: boolean;
}

/** Maximum number of connections for requests. Each watch has an additional connection. */
const MAX_SOCKETS = 16;
/** Time in milliseconds after which connections are replaced, so that requests reach servers that were added. */
const MAX_AGE = 600_000;

/**
 * Agent whose connections all lead to the same server. The name of a connection has all certificates by default, and is
 * made for each request.
 */
class ServerAgent extends HttpsAgent {
  override getName(): string {
    return "server";
  }
}

/** Connections to a server with the same certificates. */
export class Pool {
  /** Keeps connections for later requests. */
  readonly requests: HttpAgent;
  /** Closes each connection with its request. */
  readonly alone: HttpAgent;
  readonly tls: TlsOptions;
  readonly #endsAt = systemClock.now() + MAX_AGE;

  constructor(isSecure: boolean, tls: TlsOptions) {
    const Agent = isSecure ? ServerAgent : HttpAgent;
    this.tls = tls;
    this.requests = new Agent({ keepAlive: true, keepAliveMsecs: 15_000, maxSockets: MAX_SOCKETS, ...tls });
    this.alone = new Agent({ keepAlive: false, ...tls });
  }

  get isOld(): boolean {
    return systemClock.now() >= this.#endsAt;
  }

  /** Closes idle connections at once, and each other one when its request ends. */
  retire(): void {
    Object.assign(this.requests, { keepAlive: false });
    for (const sockets of Object.values(this.requests.freeSockets)) sockets?.forEach((socket) => socket.destroy());
  }
}
