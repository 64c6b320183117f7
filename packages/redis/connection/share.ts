import { Call } from "./call.ts";
import { Calls } from "./calls.ts";
import type { Connection, Retry, Script } from "./connection.ts";
import { RedisConnectionError } from "./errors.ts";
import { type Listener, Subscriptions } from "./subscriptions.ts";
import type { Dialer } from "./wire.ts";

/** State shared by all users of one server or one client in this process. */
export class Shared {
  readonly address: string;
  readonly database: number;
  readonly calls: Calls;
  readonly subscriptions: Subscriptions;
  readonly #dialer: Dialer;
  readonly #forget: () => void;
  #users = 0;
  #hasCalled = false;

  /** Calls `forget` when the last user has left. The next user then opens a new connection. */
  constructor(dialer: Dialer, forget: () => void) {
    this.address = dialer.address;
    this.database = dialer.database;
    this.calls = new Calls(dialer);
    this.subscriptions = new Subscriptions(dialer);
    this.#dialer = dialer;
    this.#forget = forget;
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
    if (--this.#users > 0) return;
    this.#forget();
    this.calls.close();
    this.subscriptions.close();
    this.#dialer.close?.();
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
    return this.#shared.calls.canSend;
  }

  run(
    script: Script,
    key: string,
    args: readonly (string | number)[],
    { retry = "never" }: { retry?: Retry } = {},
  ): Promise<unknown> {
    return this.#ask((resolve, reject) => {
      this.#shared.calls.make(new Call(script, key, args, retry, this.#callTimeout, resolve, reject, this.#onSettled));
    });
  }

  subscribe(channel: string, onMessage: (payload: string) => void, onResumed = () => {}): Promise<() => void> {
    const { subscriptions } = this.#shared;
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

  onReconnect(callback: () => void): () => void {
    return this.#ending(this.#shared.calls.onReconnect(callback));
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
