import { clearInterval, clearTimeout, setInterval, setTimeout } from "node:timers";
import { inWords, isHopeless, messageOf, RedisConnectionError, toError } from "./errors.ts";
import { Line } from "./line.ts";
import { Watchdog } from "./watchdog.ts";
import type { Dialer, SubscriberWire } from "./wire.ts";

/** Listener on a channel. */
export interface Listener {
  /** Milliseconds until an unconfirmed subscription is refused. */
  readonly timeout: number;
  onMessage(payload: string): void;
  /** Called when messages may have been missed. */
  onResumed(): void;
  /** Called when the server has confirmed the subscription for the first time. */
  onConfirmed(): void;
  /** Called if the subscription is refused. */
  onRefused(error: Error): void;
  /** Called when the subscription is first confirmed or refused. */
  onSettled(): void;
}

interface Channel {
  readonly listeners: Set<Listener>;
  isConfirmed: boolean;
}

type Timer = ReturnType<typeof setTimeout>;

/** Channels to which a process is subscribed through one connection. */
export class Subscriptions {
  readonly #address: string;
  readonly #line: Line<SubscriberWire>;
  readonly #channels = new Map<string, Channel>();
  /** Listeners whose subscription is neither confirmed nor refused, with their timeout timers. */
  readonly #waiting = new Map<Listener, Timer>();
  #wire: SubscriberWire | undefined;
  #pings: Timer | undefined;
  #watchdog: Watchdog | undefined;

  constructor(dialer: Dialer) {
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
    this.#waiting.set(listener, setTimeout(() => this.#expire(listener), listener.timeout).unref());
    const known = this.#channels.get(name);
    const channel = known ?? { listeners: new Set(), isConfirmed: false };
    channel.listeners.add(listener);
    this.#channels.set(name, channel);
    if (channel.isConfirmed) this.#confirm(listener);
    else if (known === undefined && this.#wire !== undefined) this.#subscribe(this.#wire, [name]);
    this.#line.start();
  }

  remove(name: string, listener: Listener): void {
    const channel = this.#channels.get(name);
    if (channel === undefined || !channel.listeners.delete(listener) || channel.listeners.size > 0) return;
    this.#channels.delete(name);
    this.#wire?.unsubscribe(name).catch(() => {}); // if the wire has ended, so has the subscription
  }

  /** Closes the connection. Must not be called before every subscription has been confirmed or refused. */
  close(): void {
    this.#line.close();
  }

  #up(wire: SubscriberWire): void {
    this.#wire = wire;
    this.#ping(wire);
    if (this.#channels.size > 0) this.#subscribe(wire, [...this.#channels.keys()]);
  }

  #down(): void {
    clearInterval(this.#pings);
    this.#watchdog?.close();
    this.#wire = undefined;
    for (const channel of this.#channels.values()) channel.isConfirmed = false;
  }

  /** Sends pings. Without pings, a broken connection would look like a quiet connection. */
  #ping(wire: SubscriberWire): void {
    const watchdog = this.#watchdog = new Watchdog(wire);
    const heard = () => watchdog.heard(false); // even an error reply shows that the server is reachable
    this.#pings = setInterval(() => {
      watchdog.sent();
      wire.send(["PING"]).then(heard, heard);
    }, wire.silence).unref();
  }

  #refused(error: Error): void {
    if (!isHopeless(error)) return;
    const message = `Cannot reach Redis at ${this.#address}: ${messageOf(error)}`;
    for (const listener of [...this.#waiting.keys()]) this.#refuse(listener, message, error);
  }

  #expire(listener: Listener): void {
    const reason = this.#line.lastError;
    const why = reason === undefined ? "there is no answer" : messageOf(reason);
    this.#refuse(
      listener,
      `Cannot reach Redis at ${this.#address} within ${inWords(listener.timeout)}: ${why}`,
      reason,
    );
  }

  async #subscribe(wire: SubscriberWire, names: string[]): Promise<void> {
    const channels = names.map((name) => this.#channels.get(name)!);
    try {
      await wire.subscribe(names);
    } catch (error) {
      const reason = toError(error);
      const message = `Cannot listen to Redis at ${this.#address}: ${messageOf(reason)}`;
      const listeners = isHopeless(reason) ? channels.flatMap((channel) => [...channel.listeners]) : [];
      for (const listener of listeners) this.#refuse(listener, message, reason);
      return wire.close(reason);
    }
    if (this.#wire !== wire) return;
    this.#line.worked();
    for (const channel of channels) {
      channel.isConfirmed = true;
      for (const listener of [...channel.listeners]) this.#confirm(listener);
    }
  }

  #confirm(listener: Listener): void {
    if (this.#settle(listener)) listener.onConfirmed();
    else listener.onResumed();
  }

  /** Refuses a listener. A listener with a confirmed subscription is kept, because messages for it may still arrive. */
  #refuse(listener: Listener, message: string, cause?: Error): void {
    if (!this.#settle(listener)) return;
    listener.onRefused(new RedisConnectionError(message, { mayHaveRun: false, ...cause && { cause } }));
  }

  /** Stops a listener's timeout. Returns `false` if the listener was already confirmed or refused. */
  #settle(listener: Listener): boolean {
    clearTimeout(this.#waiting.get(listener));
    if (!this.#waiting.delete(listener)) return false;
    listener.onSettled();
    return true;
  }
}
