import { type Call, Calls } from "./calls.ts";
import type { Connection, Retry, Script } from "./connection.ts";
import { RedisConnectionError } from "./errors.ts";
import { Patience } from "./patience.ts";
import { type Listener, Subscriptions } from "./subscriptions.ts";
import type { Dialer } from "./wire.ts";

/** What all users of one server, or of one client, in this process share. */
export class Shared {
  readonly address: string;
  readonly calls: Calls;
  readonly subscriptions: Subscriptions;
  readonly #dialer: Dialer;
  readonly #forget: () => void;
  #users = 0;

  /** `forget` is called at the end: the next user begins anew. */
  constructor(dialer: Dialer, forget: () => void) {
    this.address = dialer.address;
    this.calls = new Calls(dialer);
    this.subscriptions = new Subscriptions(dialer);
    this.#dialer = dialer;
    this.#forget = forget;
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

/** One user's share. */
export class Share implements Connection {
  readonly #shared: Shared;
  readonly #patience: number;
  /** What of this user has not been answered. */
  readonly #pending: Patience;
  /** What ends its subscriptions and callbacks. */
  readonly #ends = new Set<() => void>();
  #released: Promise<void> | undefined;

  constructor(shared: Shared, patience: number) {
    this.#shared = shared;
    this.#patience = patience;
    this.#pending = new Patience(patience);
    shared.enter();
  }

  get address(): string {
    return this.#shared.address;
  }

  run(
    script: Script,
    key: string,
    args: readonly (string | number)[],
    { retry = "never" }: { retry?: Retry } = {},
  ): Promise<unknown> {
    if (this.#released !== undefined) return Promise.reject(this.#gone());
    const { calls } = this.#shared;
    return new Promise((resolve, reject) => {
      const call: Call = {
        script,
        key,
        args,
        retry,
        patience: this.#patience,
        resolve: (reply) => {
          forgetPending();
          resolve(reply);
        },
        reject: (error) => {
          forgetPending();
          reject(error);
        },
      };
      const forgetPending = this.#pending.add(() => calls.expire(call));
      calls.make(call);
    });
  }

  subscribe(channel: string, onMessage: (payload: string) => void, onResumed = () => {}): Promise<() => void> {
    if (this.#released !== undefined) return Promise.reject(this.#gone());
    const { subscriptions } = this.#shared;
    return new Promise((resolve, reject) => {
      const end = this.#ending(() => subscriptions.remove(channel, listener));
      const listener: Listener = {
        onMessage,
        onResumed,
        onConfirmed: () => {
          forgetPending();
          resolve(end);
        },
        onRefused: (error) => {
          forgetPending();
          end();
          reject(error);
        },
      };
      const forgetPending = this.#pending.add(() => subscriptions.expire(listener, this.#patience));
      subscriptions.add(channel, listener);
    });
  }

  onReconnect(callback: () => void): () => void {
    return this.#ending(this.#shared.calls.onReconnect(callback));
  }

  release(): Promise<void> {
    return this.#released ??= this.#release();
  }

  async #release(): Promise<void> {
    await this.#pending.empty();
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

  #gone(): RedisConnectionError {
    return new RedisConnectionError(`Cannot call Redis at ${this.address} as the connection was given back`, {
      mayHaveRun: false,
    });
  }
}
