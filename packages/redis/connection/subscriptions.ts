import { clearInterval, setInterval } from "node:timers";
import { inWords, isHopeless, isReply, messageOf, RedisConnectionError, toError } from "./errors.ts";
import { Line } from "./line.ts";
import type { Dialer, SubscriberWire } from "./wire.ts";

/** Somebody who listens on a channel. */
export interface Listener {
  onMessage(payload: string): void;
  /** Messages may have been missed. */
  onResumed(): void;
  /** The server has confirmed it, for the first time. */
  onConfirmed(): void;
  /** It cannot be. */
  onRefused(error: Error): void;
}

interface Channel {
  readonly listeners: Set<Listener>;
  isConfirmed: boolean;
}

/** The channels that a process listens on, on one connection. */
export class Subscriptions {
  readonly #address: string;
  readonly #silence: number;
  readonly #line: Line<SubscriberWire>;
  readonly #channels = new Map<string, Channel>();
  readonly #confirmed = new WeakSet<Listener>();
  #wire: SubscriberWire | undefined;
  #pings: ReturnType<typeof setInterval> | undefined;

  constructor(dialer: Dialer) {
    this.#silence = dialer.silence;
    this.#address = dialer.address;
    const onMessage = (name: string, payload: string) => {
      for (const listener of [...this.#channels.get(name)?.listeners ?? []]) listener.onMessage(payload);
    };
    this.#line = new Line((signal) => dialer.dialSubscriber(signal, onMessage), {
      onUp: (wire) => this.#up(wire),
      onDown: () => this.#down(),
      onRefused: (error) => this.#refused(error),
    });
  }

  add(name: string, listener: Listener): void {
    const channel = this.#channels.get(name) ?? { listeners: new Set(), isConfirmed: false };
    channel.listeners.add(listener);
    if (channel.isConfirmed) this.#confirm(listener);
    else if (!this.#channels.has(name)) {
      this.#channels.set(name, channel);
      if (this.#wire !== undefined) this.#subscribe(this.#wire, [name]);
    }
    this.#line.start();
  }

  remove(name: string, listener: Listener): void {
    const channel = this.#channels.get(name);
    if (channel === undefined || !channel.listeners.delete(listener) || channel.listeners.size > 0) return;
    this.#channels.delete(name);
    this.#wire?.unsubscribe(name).catch(() => {}); // the wire has ended, and what comes after it knows nothing of it
  }

  /** Refuses somebody who has waited for so long that it be confirmed. */
  expire(listener: Listener, patience: number): void {
    const { lastError } = this.#line;
    const reason = lastError === undefined ? "there is no answer" : messageOf(lastError);
    const message = `Cannot reach Redis at ${this.#address} within ${inWords(patience)}: ${reason}`;
    this.#refuse(listener, message, lastError);
  }

  close(): void {
    this.#line.close();
  }

  #up(wire: SubscriberWire): void {
    this.#wire = wire;
    // Somebody who only listens cannot tell silence from a connection that is broken.
    this.#pings = setInterval(() => wire.send(["PING"]).catch(() => {}), this.#silence);
    this.#pings.unref();
    if (this.#channels.size > 0) this.#subscribe(wire, [...this.#channels.keys()]);
  }

  #down(): void {
    clearInterval(this.#pings);
    this.#wire = undefined;
    for (const channel of this.#channels.values()) channel.isConfirmed = false;
  }

  #refused(error: Error): void {
    if (!isHopeless(error)) return;
    const message = `Cannot reach Redis at ${this.#address}: ${messageOf(error)}`;
    for (const { listeners } of [...this.#channels.values()]) {
      for (const listener of [...listeners]) this.#refuse(listener, message, error);
    }
  }

  async #subscribe(wire: SubscriberWire, names: string[]): Promise<void> {
    const channels = names.map((name) => this.#channels.get(name)!);
    try {
      await wire.subscribe(names);
    } catch (error) {
      if (this.#wire !== wire) return;
      const message = `Cannot listen on a channel of Redis at ${this.#address}: ${messageOf(toError(error))}`;
      const listeners = isReply(error) ? channels.flatMap((channel) => [...channel.listeners]) : [];
      for (const listener of listeners) this.#refuse(listener, message, toError(error));
      return wire.close(toError(error));
    }
    if (this.#wire !== wire) return;
    this.#line.worked();
    for (const channel of channels) {
      channel.isConfirmed = true;
      for (const listener of [...channel.listeners]) this.#confirm(listener);
    }
  }

  #confirm(listener: Listener): void {
    if (this.#confirmed.has(listener)) listener.onResumed();
    else listener.onConfirmed();
    this.#confirmed.add(listener);
  }

  /** One that was confirmed before is not told: what it waits for may yet come. */
  #refuse(listener: Listener, message: string, cause?: Error): void {
    if (this.#confirmed.has(listener)) return;
    listener.onRefused(new RedisConnectionError(message, { mayHaveRun: false, ...cause && { cause } }));
  }
}
