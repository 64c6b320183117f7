/** What the clients have in common: types only. */

/**
 * One connection to a server, from when it can be used to its end. It never comes back: after it comes another wire.
 */
export interface Wire {
  /**
   * After how many milliseconds it is to be closed, if the server owes an answer and says nothing. None if that is the
   * business of somebody else, who gave the client.
   */
  readonly silence: number | undefined;
  /** Whether a command that is sent now goes out. If not, the wire is about to end. */
  readonly isReady: boolean;
  /**
   * Sends a command. Those of one turn of the event loop go out together, in order. Rejects with the server's error
   * reply, or with anything else if the command may have run. May never settle if the wire has ended.
   */
  send(command: readonly string[]): Promise<unknown>;
  /** Resolves when it has ended, to the reason. */
  readonly ended: Promise<Error>;
  /** Ends it. */
  close(reason: Error): void;
}

/** A wire that messages come in on. */
export interface SubscriberWire extends Wire {
  readonly silence: number;
  /** Resolves when the server has confirmed it. */
  subscribe(channels: readonly string[]): Promise<void>;
  /** Resolves when the server has confirmed it. */
  unsubscribe(channel: string): Promise<void>;
}

/** Gets the messages of every channel. */
export type OnMessage = (channel: string, payload: string) => void;

/** A server, and how to connect to it. Both reject if they cannot, and when the signal aborts. */
export interface Dialer {
  /** Where the server is: without user and password. */
  readonly address: string;
  /** The number of the database. */
  readonly database: number;
  /** Opens a wire for commands. */
  dial(signal: AbortSignal): Promise<Wire>;
  /** Opens a wire for messages. */
  dialSubscriber(signal: AbortSignal, onMessage: OnMessage): Promise<SubscriberWire>;
  /** Lets a client go that was given. */
  close?(): void;
}
