/** Connections by the clients of `redis` and `@redis/client`. */

import { createClient } from "@redis/client";
import { type EventEmitter, once } from "node:events";
import { clearTimeout, setTimeout } from "node:timers";
import { type Address, DEFAULT_PORT, showAddress } from "./address.ts";
import { Ending } from "./ending.ts";
import type { Dialer, OnMessage, SubscriberWire, Wire } from "./wire.ts";

/** What is used of a client of `redis` or `@redis/client`, from version 5. */
export interface NodeRedisClient {
  /** Whether it has been told to connect, and has not been closed. */
  readonly isOpen: boolean;
  /** Whether commands can be sent. */
  readonly isReady: boolean;
  /** Sends a command. */
  sendCommand(command: readonly string[], options?: NodeRedisCommandOptions): Promise<unknown>;
  /** Makes another client with the same options, but for these. */
  // deno-lint-ignore no-explicit-any -- the type of what it gives depends on the options
  duplicate(options?: any): any;
  /** Calls back when something happens. */
  on(event: string, listener: (error: Error) => void): this;
  /** Calls back no more. */
  off(event: string, listener: (error: Error) => void): this;
}

/** The options of a command that are used. */
export interface NodeRedisCommandOptions {
  /** Aborts what has not been sent. */
  abortSignal?: AbortSignal;
  /** Milliseconds until what has not been sent is given up; 0: never. */
  timeout?: number;
  /** What the parts of the reply become. */
  typeMapping?: Record<string, never>;
}

/** A client that is ours. */
interface OwnClient extends NodeRedisClient {
  connect(): Promise<unknown>;
  destroy(): void;
  subscribe(channels: readonly string[], onMessage: (payload: string, channel: string) => void): Promise<void>;
  unsubscribe(channel: string, onMessage: (payload: string, channel: string) => void): Promise<void>;
}

/** What is read of the options of a client. */
interface Options {
  readonly socket?: { readonly host?: string; readonly port?: number; readonly path?: string };
  readonly database?: number;
}

/** How long connecting may take, and then how long the server may take to say hello. */
const DIAL_TIMEOUT = 5000;

/** The client dials once and keeps nothing back: trying again, and what becomes of the calls, is decided elsewhere. */
const OWN_OPTIONS = {
  disableOfflineQueue: true,
  commandOptions: { timeout: 0 },
  clientInfoTag: "workqueue",
  // Both need to read variables of the environment, which Deno may forbid.
  maintNotifications: "disabled",
  emitInvalidate: false,
} as const;
const OWN_SOCKET_OPTIONS = { reconnectStrategy: false, connectTimeout: DIAL_TIMEOUT } as const;

/** Connects to the server at an address. */
export function dialAddress(address: Address, silence: number): Dialer {
  const { host, port, tls, username, password, database } = address;
  const create = () =>
    createClient({
      ...OWN_OPTIONS,
      RESP: 2, // which every server, and every proxy before one, speaks
      socket: { ...OWN_SOCKET_OPTIONS, host, port, ...tls && { tls } },
      database,
      ...username !== undefined && { username },
      ...password !== undefined && { password },
    }) as unknown as OwnClient;
  return {
    address: showAddress(address),
    database,
    dial: (signal) => openWire(create(), silence, signal),
    dialSubscriber: (signal, onMessage) => openWire(create(), silence, signal, onMessage),
  };
}

/** Sends commands by a client that a user has, and opens connections for messages as it would. */
export function dialNodeRedis(client: NodeRedisClient, silence: number): Dialer {
  const { options = {} } = client as { options?: Options };
  const { socket, database = 0 } = options;
  const { host = "localhost", port = DEFAULT_PORT, path } = socket ?? {};
  client.on("error", ignore);
  return {
    address: path ?? showAddress({ host, port }),
    database,
    dial: (signal) => useClient(client, signal),
    dialSubscriber: (signal, onMessage) => {
      const own = { ...OWN_OPTIONS, clientSideCache: undefined, socket: { ...socket, ...OWN_SOCKET_OPTIONS } };
      return openWire(client.duplicate(own), silence, signal, onMessage);
    },
    close: () => client.off("error", ignore),
  };
}

/** A wire by a client of ours, which is connected for it and destroyed at its end. */
async function openWire(
  client: OwnClient,
  silence: number,
  signal: AbortSignal,
  onMessage: OnMessage = ignore,
): Promise<SubscriberWire> {
  const ending = new Ending();
  const close = (reason: Error) => {
    ending.end(reason);
    queueMicrotask(() => destroy(client)); // it is still about to tell the calls why they have failed
  };
  client.on("error", close);
  await connect(client, signal);
  const onText = (payload: string, channel: string) => onMessage(channel, payload);
  return {
    ended: ending.reason,
    close,
    silence,
    get isReady() {
      return client.isReady;
    },
    send: (command) => client.sendCommand(command),
    subscribe: (channels) => client.subscribe(channels, onText),
    unsubscribe: (channel) => client.unsubscribe(channel, onText),
  };
}

/** Connects a client of ours; or destroys it, if that fails, takes too long, or is not wanted any more. */
async function connect(client: OwnClient, signal: AbortSignal): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let failure: Error | undefined;
  let hasSocket = false; // before it has, it destroys nothing
  const fail = (reason: Error) => {
    failure ??= reason;
    if (hasSocket) destroy(client);
  };
  const onAbort = () => fail(signal.reason);
  client.on("connect", () => {
    hasSocket = true;
    if (failure !== undefined) return destroy(client);
    timer = setTimeout(() => fail(new Error("the server accepts connections, and says nothing")), DIAL_TIMEOUT);
  });
  signal.addEventListener("abort", onAbort);
  try {
    await client.connect();
    if (failure !== undefined) throw failure;
  } catch (error) {
    destroy(client);
    throw failure ?? error;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", onAbort);
  }
}

function destroy(client: OwnClient): void {
  try {
    client.destroy();
  } catch {
    // Version 5 says that it was closed already.
  }
}

/** A wire by a client of the user's: from when it is ready until its connection breaks. */
async function useClient(client: NodeRedisClient, signal: AbortSignal): Promise<Wire> {
  if (!client.isOpen) throw new Error("the client that was given is not connected, or was closed");
  if (!client.isReady) await once(client as unknown as EventEmitter, "ready", { signal });
  const ending = new Ending();
  const unsent = new Unsent();
  const close = (reason: Error) => {
    client.off("error", onError).off("end", onEnd);
    unsent.abort(); // it would send them on its next connection
    ending.end(reason);
  };
  const onError = (error: Error) => client.isReady || close(error);
  const onEnd = () => close(new Error("the client that was given was closed"));
  client.on("error", onError).on("end", onEnd);
  const options = { abortSignal: unsent as unknown as AbortSignal, timeout: 0, typeMapping: {} };
  return {
    ended: ending.reason,
    close,
    silence: undefined,
    get isReady() {
      return client.isReady;
    },
    send: (command) => client.sendCommand(command, options),
  };
}

/**
 * What a client needs of an `AbortSignal`. A real one compares each listener with all that it has, and every command
 * adds one.
 */
class Unsent {
  aborted = false;
  readonly #listeners = new Set<() => void>();

  addEventListener(_type: "abort", listener: () => void): void {
    this.#listeners.add(listener);
  }

  removeEventListener(_type: "abort", listener: () => void): void {
    this.#listeners.delete(listener);
  }

  abort(): void {
    this.aborted = true;
    for (const listener of [...this.#listeners]) listener();
  }
}

function ignore(): void {}
