import type { PermitsReply, PermitsRequest, ThrottleStore, TokensReply, TokensRequest } from "@workqueue/engine";
import type { Connection } from "./connection/connection.ts";
import { THROTTLE_SCRIPTS, type ThrottleScripts } from "./scripts/throttle_script.ts";

/** Calls to the server for throttles that all processes share. */
export class RedisThrottleStore implements ThrottleStore {
  readonly #connection: Connection;
  readonly #scripts: ThrottleScripts;
  readonly #expireMs: number | undefined;

  /** @param expireAfter Milliseconds without calls after which a throttle is forgotten; 30 days by default. */
  constructor(connection: Connection, scripts: ThrottleScripts, expireAfter: number | undefined) {
    this.#connection = connection;
    this.#scripts = scripts;
    this.#expireMs = expireAfter;
  }

  async permits(id: string, request: PermitsRequest): Promise<PermitsReply> {
    const { write, read } = THROTTLE_SCRIPTS.permits;
    const options = { retry: "always" } as const;
    const args = write({ ...request, expireMs: this.#expireMs });
    return read(await this.#connection.run(this.#scripts.permits, `${id}:state`, args, options));
  }

  async tokens(id: string, request: TokensRequest): Promise<TokensReply> {
    const { write, read, retry } = THROTTLE_SCRIPTS.tokens;
    const rate = request.rate === Infinity ? -1 : request.rate;
    const args = write({ ...request, rate, expireMs: this.#expireMs });
    return read(await this.#connection.run(this.#scripts.tokens, `${id}:state`, args, { retry }));
  }

  listen(id: string, process: string, callback: () => void): Promise<() => void> {
    return this.#connection.subscribe(`${id}:turn:${process}`, callback, callback);
  }

  onReconnect(id: string, callback: () => void): () => void {
    return this.#connection.onReconnect(`${id}:state`, callback);
  }
}
