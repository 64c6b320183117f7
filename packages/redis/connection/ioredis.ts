/** Connections through clients of `ioredis`. */

import { type EventEmitter, once } from "node:events";
import { DEFAULT_PORT, showAddress } from "./address.ts";
import { Ending } from "./ending.ts";
import { toError } from "./errors.ts";
import type { Dialer, OnMessage, SubscriberWire, Wire } from "./wire.ts";

/**
 * Interface that a queue requires of an `ioredis` client, version 5 or later. The client's option
 * `autoResendUnfulfilledCommands` must be `false`.
 */
export interface IoRedisClient {
  /** State of the connection, such as `"ready"`. */
  readonly status: string;
  /** Sends a command. */
  call(command: string, ...args: string[]): Promise<unknown>;
  /** Creates another client with the same options, overridden by the given `options`. */
  // deno-lint-ignore no-explicit-any -- the type of `options` differs between versions
  duplicate(options?: any): any;
  /** Starts connecting. */
  connect(): Promise<void>;
  /** Adds a listener for an event. */
  // deno-lint-ignore no-explicit-any -- the arguments depend on the event
  on(event: any, listener: (...told: any[]) => void): this;
  /** Removes a listener for an event. */
  // deno-lint-ignore no-explicit-any -- the arguments depend on the event
  off(event: any, listener: (...told: any[]) => void): this;
}

/** Client that this package created. */
interface OwnClient extends IoRedisClient {
  disconnect(): void;
  subscribe(...channels: string[]): Promise<unknown>;
  unsubscribe(...channels: string[]): Promise<unknown>;
}

/** Client options that this package reads. */
interface Options {
  readonly host?: string;
  readonly port?: number;
  readonly path?: string;
  readonly db?: number;
  /** Sentinels that know the address of the master. */
  readonly sentinels?: unknown;
  /** Name of the master. */
  readonly name?: string;
}

/**
 * Options for a client that this package creates. The client dials once and queues nothing: `Line` and `Calls` handle
 * retries.
 */
const OWN_OPTIONS = {
  lazyConnect: true,
  connectTimeout: 5000,
  retryStrategy: null,
  sentinelRetryStrategy: null,
  reconnectOnError: null,
  enableOfflineQueue: false,
  autoResubscribe: false,
  maxRetriesPerRequest: null,
};

/**
 * Returns a dialer for a client that a user passed in. Commands go through this client. Connections for messages are
 * opened with the same options.
 */
export function dialIoRedis(client: IoRedisClient, silence: number): Dialer {
  const { options = {} } = client as { options?: Options };
  const { host = "localhost", port = DEFAULT_PORT, path, db = 0, sentinels, name } = options;
  client.on("error", ignore);
  return {
    address: sentinels ? `${name} (Sentinel)` : path ?? showAddress({ host, port }),
    database: db,
    dial: (signal) => useClient(client, signal),
    dialSubscriber: (signal, onMessage) => openSubscriber(client.duplicate(OWN_OPTIONS), silence, signal, onMessage),
    close: () => client.off("error", ignore),
  };
}

/** Opens a wire with a client that this package created. The client disconnects when the wire ends. */
async function openSubscriber(
  client: OwnClient,
  silence: number,
  signal: AbortSignal,
  onMessage: OnMessage,
): Promise<SubscriberWire> {
  const ending = new Ending();
  const close = (reason: Error) => {
    ending.end(reason);
    client.disconnect();
  };
  let failure: Error | undefined;
  client.on("error", (error) => failure = error);
  client.on("close", () => close(failure ?? new Error("the connection was closed")));
  client.on("message", onMessage);
  const onAbort = () => client.disconnect();
  signal.addEventListener("abort", onAbort);
  try {
    await client.connect();
  } catch (error) {
    client.disconnect();
    // Only the message is kept, because the error itself contains the command with the password.
    throw new Error(toError(failure ?? error).message);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
  return {
    ended: ending.reason,
    close,
    silence,
    get isReady() {
      return isReady(client);
    },
    send: ([command, ...args]) => client.call(command!, ...args),
    subscribe: async (channels) => void await client.subscribe(...channels),
    unsubscribe: async (channel) => void await client.unsubscribe(channel),
  };
}

/**
 * Opens a wire through the user's client. The wire starts when the client is ready, and ends when the client's
 * connection breaks.
 */
async function useClient(client: IoRedisClient, signal: AbortSignal): Promise<Wire> {
  if (client.status === "end") throw new Error("the client that was given was closed");
  if (client.status === "wait") client.connect().catch(ignore);
  if (client.status !== "ready") await once(client as unknown as EventEmitter, "ready", { signal });
  const ending = new Ending();
  let failure: Error | undefined;
  const close = (reason: Error) => {
    client.off("error", onError).off("close", onClose);
    ending.end(reason);
  };
  const onError = (error: Error) => failure = error;
  const onClose = () => close(failure ?? new Error("the connection was closed"));
  client.on("error", onError).on("close", onClose);
  return {
    ended: ending.reason,
    close,
    silence: undefined,
    get isReady() {
      return isReady(client);
    },
    send: ([command, ...args]) => client.call(command!, ...args),
  };
}

/** Reports whether the client would send a command immediately instead of queueing it. */
function isReady(client: IoRedisClient): boolean {
  const { stream } = client as { stream?: { writable?: boolean } };
  return client.status === "ready" && stream?.writable !== false;
}

function ignore(): void {}
