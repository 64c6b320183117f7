/** Types shared by the code for all supported clients. */

import type { Script } from "./script.ts";

/** Established connection to a server. A wire that has ended never comes back: a new wire replaces it. */
export interface Wire {
  /**
   * Milliseconds of silence after which the wire is ended if the server owes an answer. `undefined` if the user passed
   * in the client, because then the client's own settings apply.
   */
  readonly silence: number | undefined;
  /** Scripts whose text was sent on the connection, if other wires share it. */
  readonly known?: Set<Script>;
  /** Whether a command would be sent immediately. If not, the wire is about to end. */
  readonly isReady: boolean;
  /**
   * Sends a command. Commands from one turn of the event loop are sent together, in order. If the server replies with
   * an error, rejects with this error. If the command may have run but its reply is lost, rejects with another error.
   * May never settle if the wire has ended.
   */
  send(command: readonly string[]): Promise<unknown>;
  /** Resolves to the reason when the wire has ended. */
  readonly ended: Promise<Error>;
  /** Ends the wire. */
  close(reason: Error): void;
}

/** Wire that receives messages. */
export interface SubscriberWire extends Wire {
  readonly silence: number;
  /** Subscribes to channels. Resolves when the server has confirmed the subscriptions. */
  subscribe(channels: readonly string[]): Promise<void>;
  /** Unsubscribes from a channel. Resolves when the server has confirmed the end of the subscription. */
  unsubscribe(channel: string): Promise<void>;
}

/** Receives the messages of all channels. */
export type OnMessage = (channel: string, payload: string) => void;

/** Server, with functions that connect to it. Both functions reject if connecting fails or the signal aborts. */
export interface Dialer {
  /** Whether the server is the node of a cluster that owns a hash slot. */
  readonly isNode?: boolean;
  /** Host and port, or the path of a Unix socket. Without user and password. */
  readonly address: string;
  /** Database number. */
  readonly database: number;
  /** Opens a wire for commands. */
  dial(signal: AbortSignal): Promise<Wire>;
  /** Opens a wire for messages. */
  dialSubscriber(signal: AbortSignal, onMessage: OnMessage): Promise<SubscriberWire>;
  /** Removes this package's listeners from a client that a user passed in. */
  close?(): void;
}

/** Cluster, with a dialer for each hash slot. */
export interface ClusterDialer extends Pick<Dialer, "address" | "database"> {
  /** Returns the hash slot of a key or channel. */
  slotOf(key: string): number;
  /** Returns a dialer for the node that owns a slot. */
  dialerOf(slot: number): Dialer;
  /** Stops connecting. */
  close(): void;
}
