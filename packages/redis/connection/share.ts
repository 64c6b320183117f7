import { Call } from "./call.ts";
import { Calls } from "./calls.ts";
import type { Connection, Retry, Script } from "./connection.ts";
import { RedisConnectionError } from "./errors.ts";
import { type Listener, Subscriptions } from "./subscriptions.ts";
import type { ClusterDialer, Dialer } from "./wire.ts";

/** Calls and subscriptions that go to one server, or to the node that owns a hash slot of a cluster. */
class Lane {
  readonly calls: Calls;
  readonly subscriptions: Subscriptions;

  constructor(dialer: Dialer) {
    this.calls = new Calls(dialer);
    this.subscriptions = new Subscriptions(dialer);
  }

  close(): void {
    this.calls.close();
    this.subscriptions.close();
  }
}

/** State shared by all users of one server, one cluster or one client in this process. */
export class Shared {
  readonly address: string;
  readonly database: number;
  /** Returns the lane for a key or channel. */
  readonly laneOf: (key: string) => Lane;
  /** Lanes in use, by hash slot. A single server has one lane. */
  readonly #lanes = new Map<number, Lane>();
  readonly #close: () => void;
  #users = 0;
  #hasCalled = false;

  /** Calls `forget` when the last user has left. The next user then opens a new connection. */
  constructor(dialer: Dialer | ClusterDialer, forget: () => void) {
    this.address = dialer.address;
    this.database = dialer.database;
    if ("dialerOf" in dialer) {
      this.laneOf = (key) => this.#laneOf(dialer, key);
    } else {
      const lane = new Lane(dialer);
      this.#lanes.set(0, lane);
      this.laneOf = () => lane;
    }
    this.#close = () => {
      forget();
      for (const lane of this.#lanes.values()) lane.close();
      dialer.close?.();
    };
  }

  get isUp(): boolean {
    for (const { calls } of this.#lanes.values()) if (!calls.canSend) return false;
    return this.#lanes.size > 0;
  }

  once(action: () => void): void {
    if (this.#hasCalled) return;
    this.#hasCalled = true;
    action();
  }

  enter(): void {
    this.#users++;
  }

  leave(): void {
    if (--this.#users === 0) this.#close();
  }

  #laneOf(cluster: ClusterDialer, key: string): Lane {
    const slot = cluster.slotOf(key);
    const lane = this.#lanes.get(slot) ?? new Lane(cluster.dialerOf(slot));
    this.#lanes.set(slot, lane);
    return lane;
  }
}

/** One user's share of a connection. */
export class Share implements Connection {
  readonly #shared: Shared;
  readonly #callTimeout: number;
  /** Number of this user's unanswered calls and subscriptions. */
  #pending = 0;
  #onIdle: (() => void) | undefined;
  /** Functions that end this user's subscriptions and callbacks. */
  readonly #ends = new Set<() => void>();
  #released: Promise<void> | undefined;

  constructor(shared: Shared, callTimeout: number) {
    this.#shared = shared;
    this.#callTimeout = callTimeout;
    shared.enter();
  }

  get address(): string {
    return this.#shared.address;
  }

  get database(): number {
    return this.#shared.database;
  }

  get isUp(): boolean {
    return this.#shared.isUp;
  }

  run(
    script: Script,
    key: string,
    args: readonly (string | number)[],
    { retry = "never" }: { retry?: Retry } = {},
  ): Promise<unknown> {
    return this.#ask((resolve, reject) => {
      const call = new Call(script, key, args, retry, this.#callTimeout, resolve, reject, this.#onSettled);
      this.#shared.laneOf(key).calls.make(call);
    });
  }

  subscribe(channel: string, onMessage: (payload: string) => void, onResumed = () => {}): Promise<() => void> {
    const { subscriptions } = this.#shared.laneOf(channel);
    return this.#ask((resolve, reject) => {
      const listener: Listener = {
        timeout: this.#callTimeout,
        onMessage,
        onResumed,
        onConfirmed: () => resolve(end),
        onRefused: (error) => {
          end();
          reject(error);
        },
        onSettled: this.#onSettled,
      };
      const end = this.#ending(() => subscriptions.remove(channel, listener));
      subscriptions.add(channel, listener);
    });
  }

  onReconnect(key: string, callback: () => void): () => void {
    return this.#ending(this.#shared.laneOf(key).calls.onReconnect(callback));
  }

  once(action: () => void): void {
    this.#shared.once(action);
  }

  release(): Promise<void> {
    return this.#released ??= this.#release();
  }

  #ask<R>(begin: (resolve: (reply: R) => void, reject: (error: Error) => void) => void): Promise<R> {
    if (this.#released !== undefined) {
      const message = `Cannot call Redis at ${this.address}: the connection was given back`;
      return Promise.reject(new RedisConnectionError(message, { mayHaveRun: false }));
    }
    this.#pending++;
    return new Promise(begin);
  }

  readonly #onSettled = (): void => {
    if (--this.#pending === 0) this.#onIdle?.();
  };

  async #release(): Promise<void> {
    if (this.#pending > 0) await new Promise<void>((resolve) => this.#onIdle = resolve);
    for (const end of this.#ends) end();
    this.#shared.leave();
  }

  #ending(end: () => void): () => void {
    const once = () => {
      if (this.#ends.delete(once)) end();
    };
    this.#ends.add(once);
    return once;
  }
}
