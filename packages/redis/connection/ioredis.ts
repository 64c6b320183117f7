/** Connections by the clients of `ioredis`. */

import { type EventEmitter, once } from "node:events";
import { DEFAULT_PORT, showAddress } from "./address.ts";
import { Ending } from "./ending.ts";
import { toError } from "./errors.ts";
import type { Dialer, OnMessage, SubscriberWire, Wire } from "./wire.ts";

/** What is used of a client of `ioredis`, from version 5. Its option `autoResendUnfulfilledCommands` must be false. */
export interface IoRedisClient {
  /** How far it is: `"ready"`, … */
  readonly status: string;
  /** Sends a command. */
  call(command: string, ...args: string[]): Promise<unknown>;
  /** Makes another client with the same options, but for these. */
  // deno-lint-ignore no-explicit-any -- the type of options differs from version to version
  duplicate(options?: any): any;
  /** Begins to connect. */
  connect(): Promise<void>;
  /** Calls back when something happens. */
  // deno-lint-ignore no-explicit-any -- what is told depends on the event
  on(event: any, listener: (...told: any[]) => void): this;
  /** Calls back no more. */
  // deno-lint-ignore no-explicit-any -- what is told depends on the event
  off(event: any, listener: (...told: any[]) => void): this;
}

/** A client that is ours. */
interface OwnClient extends IoRedisClient {
  disconnect(): void;
  subscribe(...channels: string[]): Promise<unknown>;
  unsubscribe(...channels: string[]): Promise<unknown>;
}

/** The client dials once and keeps nothing back: trying again is decided elsewhere. */
const OWN_OPTIONS = {
  lazyConnect: true,
  connectTimeout: 5000,
  retryStrategy: null,
  reconnectOnError: null,
  enableOfflineQueue: false,
  autoResubscribe: false,
  maxRetriesPerRequest: null,
};

/** Sends commands by a client that a user has, and opens connections for messages as it would. */
export function dialIoRedis(client: IoRedisClient, silence: number): Dialer {
  const { options = {} } = client as { options?: { host?: string; port?: number; path?: string; db?: number } };
  const { host = "localhost", port = DEFAULT_PORT, path, db = 0 } = options;
  client.on("error", ignore);
  return {
    address: path ?? showAddress({ host, port }),
    database: db,
    dial: (signal) => useClient(client, signal),
    dialSubscriber: (signal, onMessage) => openSubscriber(client.duplicate(OWN_OPTIONS), silence, signal, onMessage),
    close: () => client.off("error", ignore),
  };
}

/** A wire by a client of ours, which is connected for it and disconnected at its end. */
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
    // And not the error, which holds the command, which has the password
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

/** A wire by a client of the user's: from when it is ready until its connection breaks. */
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

/** Whether it would send a command at once, and not keep it for later. */
function isReady(client: IoRedisClient): boolean {
  const { stream } = client as { stream?: { writable?: boolean } };
  return client.status === "ready" && stream?.writable !== false;
}

function ignore(): void {}
