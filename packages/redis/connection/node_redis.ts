/** Connections through clients of `redis` and `@redis/client`. */

import { RedisClient } from "@redis/client";
import { type EventEmitter, once } from "node:events";
import { clearTimeout, setTimeout } from "node:timers";
import { type Address, DEFAULT_PORT, showAddress } from "./address.ts";
import { Ending } from "./ending.ts";
import { probeTls } from "./tls_probe.ts";
import type { Dialer, OnMessage, SubscriberWire, Wire } from "./wire.ts";

/** Interface that a queue requires of a client from `redis` or `@redis/client`, version 5 or later. */
export interface NodeRedisClient {
  /** Whether `connect` was called and the client has not been closed. */
  readonly isOpen: boolean;
  /** Whether commands can be sent. */
  readonly isReady: boolean;
  /** Sends a command. */
  sendCommand(command: readonly string[], options?: NodeRedisCommandOptions): Promise<unknown>;
  /** Creates another client with the same options, overridden by the given `options`. */
  // deno-lint-ignore no-explicit-any -- the type of the client depends on the options
  duplicate(options?: any): any;
  /** Adds a listener for an event. */
  on(event: string, listener: (error: Error) => void): this;
  /** Removes a listener for an event. */
  off(event: string, listener: (error: Error) => void): this;
}

/** Command options that a queue uses. */
export interface NodeRedisCommandOptions {
  /** Signal that cancels a command that has not been sent yet. */
  abortSignal?: AbortSignal;
  /** Milliseconds until an unsent command is canceled; 0 for no limit. */
  timeout?: number;
  /** JavaScript types for the values in the reply. */
  typeMapping?: Record<string, never>;
}

/** Client that this package created. */
interface OwnClient extends NodeRedisClient {
  connect(): Promise<unknown>;
  destroy(): void;
  subscribe(channels: readonly string[], onMessage: (payload: string, channel: string) => void): Promise<void>;
  unsubscribe(channel: string, onMessage: (payload: string, channel: string) => void): Promise<void>;
  on(event: "sharded-channel-moved", listener: (channel: string) => void): this;
  on(event: string, listener: (error: Error) => void): this;
  sSubscribe(channels: readonly string[], onMessage: (payload: string, channel: string) => void): Promise<void>;
  sUnsubscribe(channel: string, onMessage: (payload: string, channel: string) => void): Promise<void>;
}

/** Client options that this package reads. */
interface Options {
  readonly socket?: { readonly host?: string; readonly port?: number; readonly path?: string };
  readonly database?: number;
}

/** Time limit in milliseconds for connecting. The same limit applies separately to the server's first answers. */
const DIAL_TIMEOUT = 5000;

/**
 * Options for a client that this package creates. The client dials once and queues nothing: `Line` and `Calls` handle
 * retries.
 */
const OWN_OPTIONS = {
  disableOfflineQueue: true,
  commandOptions: { timeout: 0 },
  clientInfoTag: "workqueue",
  // The next two features are off, because they read environment variables, which Deno may forbid.
  maintNotifications: "disabled",
  emitInvalidate: false,
} as const;
const OWN_SOCKET_OPTIONS = { reconnectStrategy: false, connectTimeout: DIAL_TIMEOUT } as const;
const PROTOCOL = { RESP: 2 } as const; // supported by every server and every proxy

let newClient: ReturnType<typeof RedisClient.factory<never, never, never, 2>> | undefined;

/**
 * Creates a client. All clients share one class: the function of the same name in `@redis/client` would build a class
 * with all commands for each address, which takes 35 ms.
 */
function createClient(options: Parameters<NonNullable<typeof newClient>>[0]): OwnClient {
  newClient ??= RedisClient.factory(PROTOCOL);
  return newClient({ ...options, ...PROTOCOL }) as unknown as OwnClient;
}

/** Returns a dialer for the server at an address. */
export function dialAddress(address: Address, silence: number): Dialer {
  return {
    address: showAddress(address),
    database: address.database,
    dial: (signal) => openWire(address, silence, signal),
    dialSubscriber: (signal, onMessage) => openWire(address, silence, signal, onMessage),
  };
}

/**
 * Opens a wire to the server at an address. With `onMoved`, the server is a node of a cluster, and channels belong to
 * hash slots. `onMoved` is called when the node has lost the slot of a channel.
 */
export async function openWire(
  address: Address,
  silence: number,
  signal: AbortSignal,
  onMessage?: OnMessage,
  onMoved?: (channel: string) => void,
): Promise<SubscriberWire> {
  const { host, port, tls, certificates, username, password, database } = address;
  if (tls && "Deno" in globalThis) await probeTls(address, DIAL_TIMEOUT, signal);
  const client = createClient({
    ...OWN_OPTIONS,
    socket: { ...OWN_SOCKET_OPTIONS, host, port, ...tls && { tls, ...certificates } },
    database,
    ...username !== undefined && { username },
    ...password !== undefined && { password },
  });
  return await useOwnClient(client, silence, signal, onMessage, onMoved);
}

/**
 * Returns a dialer for a client that a user passed in. Commands go through this client. Connections for messages are
 * opened with the same options.
 */
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
      return useOwnClient(client.duplicate(own), silence, signal, onMessage);
    },
    close: () => client.off("error", ignore),
  };
}

/** Opens a wire with a client that this package created. The client is destroyed when the wire ends. */
async function useOwnClient(
  client: OwnClient,
  silence: number,
  signal: AbortSignal,
  onMessage: OnMessage = ignore,
  onMoved?: (channel: string) => void,
): Promise<SubscriberWire> {
  const ending = new Ending();
  const close = (reason: Error) => {
    ending.end(reason);
    queueMicrotask(() => destroy(client)); // the client first rejects its pending calls with the reason
  };
  client.on("error", close);
  if (onMoved !== undefined) client.on("sharded-channel-moved", onMoved);
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
    subscribe: (channels) => onMoved ? client.sSubscribe(channels, onText) : client.subscribe(channels, onText),
    unsubscribe: (channel) => onMoved ? client.sUnsubscribe(channel, onText) : client.unsubscribe(channel, onText),
  };
}

/** Connects a client that this package created. Destroys it if connecting fails, takes too long or is aborted. */
async function connect(client: OwnClient, signal: AbortSignal): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let failure: Error | undefined;
  let hasSocket = false; // without a socket, `destroy` has no effect
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
    // Version 5 throws if the client is already closed.
  }
}

/**
 * Opens a wire through the user's client. The wire starts when the client is ready, and ends when the client's
 * connection breaks.
 */
async function useClient(client: NodeRedisClient, signal: AbortSignal): Promise<Wire> {
  if (!client.isOpen) throw new Error("the client that was given is not connected, or was closed");
  if (!client.isReady) await once(client as unknown as EventEmitter, "ready", { signal });
  const ending = new Ending();
  const unsent = new Unsent();
  const close = (reason: Error) => {
    client.off("error", onError).off("end", onEnd);
    unsent.abort(); // the client would send unsent commands on its next connection
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
 * Signal for all unsent commands, with only the members of `AbortSignal` that a client uses. A real signal would be
 * slow: it compares each new listener with all of its listeners, and every command adds a listener.
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
