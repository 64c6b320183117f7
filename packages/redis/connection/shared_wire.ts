import { Ending } from "./ending.ts";
import type { Script } from "./script.ts";
import type { OnMessage, SubscriberWire } from "./wire.ts";

/** Opens a connection to a node. `onMoved` is called when the node no longer has a channel. */
export type OpenNode = (
  signal: AbortSignal,
  onMessage: OnMessage,
  onMoved: (channel: string) => void,
) => Promise<SubscriberWire>;

/** Connection to a node of a cluster, which the hash slots on this node share. It is open while a slot uses it. */
export class NodeConnection {
  readonly #open: OpenNode;
  /** Users of channels. */
  readonly #channels = new Map<string, SharedWire>();
  readonly #closing = new AbortController();
  #opening: Promise<SubscriberWire> | undefined;
  /** Number of slots that use the connection, or wait until it is open. */
  #users = 0;
  /** Scripts whose text was sent on the connection. */
  #known = new Set<Script>();

  constructor(open: OpenNode) {
    this.#open = open;
  }

  /** Whether the connection is open or being opened. */
  get isUsed(): boolean {
    return this.#opening !== undefined;
  }

  /** Returns a wire for a slot. `onMessage` is called for each message on a channel to which this wire subscribed. */
  async join(onMessage: OnMessage = () => {}): Promise<SharedWire> {
    const opening = this.#opening ??= this.#begin();
    this.#users++;
    const leave = (reason: Error, isHung: boolean) => {
      if (this.#opening !== opening || (--this.#users > 0 && !isHung)) return;
      this.#opening = undefined;
      opening.then((connection) => connection.close(reason), () => {});
    };
    const connection = await opening;
    const wire = new SharedWire(connection, this.#known, this.#channels, onMessage, leave);
    connection.ended.then((reason) => wire.end(reason));
    return wire;
  }

  /** Stops connecting. */
  close(reason: Error): void {
    this.#closing.abort(reason);
  }

  #begin(): Promise<SubscriberWire> {
    this.#users = 0;
    this.#known = new Set();
    const forget = () => {
      if (this.#opening === opening) this.#opening = undefined;
    };
    const onMessage: OnMessage = (channel, payload) => this.#channels.get(channel)?.onMessage(channel, payload);
    const onMoved = (channel: string) => this.#channels.get(channel)?.end(new Error("the slot was moved"));
    const opening = this.#open(this.#closing.signal, onMessage, onMoved);
    opening.then((connection) => connection.ended.then(forget), forget);
    return opening;
  }
}

/** Part of a connection to a node that one hash slot uses. */
export class SharedWire implements SubscriberWire {
  readonly #wire: SubscriberWire;
  readonly #channels: Map<string, SharedWire>;
  readonly #onEnd: (reason: Error, isHung: boolean) => void;
  readonly #ending = new Ending();
  #unanswered = 0;
  #hasEnded = false;
  /** Scripts whose text was sent on the connection. */
  readonly known: Set<Script>;
  readonly onMessage: OnMessage;

  constructor(
    wire: SubscriberWire,
    known: Set<Script>,
    channels: Map<string, SharedWire>,
    onMessage: OnMessage,
    onEnd: (reason: Error, isHung: boolean) => void,
  ) {
    this.#wire = wire;
    this.known = known;
    this.#channels = channels;
    this.onMessage = onMessage;
    this.#onEnd = onEnd;
  }

  get silence(): number {
    return this.#wire.silence;
  }

  get isReady(): boolean {
    return !this.#hasEnded && this.#wire.isReady;
  }

  get ended(): Promise<Error> {
    return this.#ending.reason;
  }

  async send(command: readonly string[]): Promise<unknown> {
    this.#unanswered++;
    try {
      return await this.#wire.send(command);
    } finally {
      this.#unanswered--;
    }
  }

  async subscribe(channels: readonly string[]): Promise<void> {
    for (const channel of channels) this.#channels.set(channel, this);
    await this.#wire.subscribe(channels);
  }

  async unsubscribe(channel: string): Promise<void> {
    if (this.#channels.get(channel) !== this) return;
    this.#channels.delete(channel);
    await this.#wire.unsubscribe(channel);
  }

  /** Ends the wire. If the node owes an answer, it hangs, so the connection ends too. */
  close(reason: Error): void {
    this.#end(reason, this.#unanswered > 0);
  }

  /** Ends the wire, but not the connection while other slots use it. */
  end(reason: Error): void {
    this.#end(reason, false);
  }

  #end(reason: Error, isHung: boolean): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    for (const [channel, user] of this.#channels) if (user === this) this.unsubscribe(channel).catch(() => {});
    this.#ending.end(reason);
    this.#onEnd(reason, isHung);
  }
}
