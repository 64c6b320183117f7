import { type Clock, type Duration, systemClock } from "@workqueue/core";
import {
  A_CLOCK,
  A_FUNCTION,
  callSafely,
  requireRule,
  requireRules,
  type Rule,
  tryParseDuration,
  withCode,
} from "@workqueue/core/internal";
import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { ApiError, denialOf, ignoreAbsence, isConflict } from "../client/errors.ts";
import type { Client, RequestOptions } from "../client/client.ts";
import { sleep } from "../client/sleep.ts";
import type { KubeObject } from "../kube_object.ts";
import { A_TEXT } from "../rules.ts";

const ACTION = "create leader lease";
const API = "coordination.k8s.io/v1";
/** Parts of the duration, as in client-go: 10 s, 2 s and 5 s of 15 s. */
const [DEADLINE, RETRY, TIMEOUT] = [2 / 3, 2 / 15, 1 / 3];

/** Options of {@linkcode LeaderLease}. */
export interface LeaseOptions {
  /** Name of the lease in the cluster. */
  name: string;
  /** Namespace of the lease. */
  namespace: string;
  /**
   * Time after which another process may take the lease, if it has not seen a renewal; at least 1 s. The holder renews
   * the lease every 2/15 of this time, and gives up after 2/3 of this time without success.
   *
   * @default {"15s"}
   */
  duration?: Duration | undefined;
  /** Name of this process in the lease. Must be unique. @default {the host's name and a random part} */
  identity?: string | undefined;
  /** Called for each request that failed. */
  onError?: ((error: unknown) => void) | undefined;
  /** Clock of the process. @default {systemClock} */
  clock?: Clock | undefined;
}

const A_LEASE_DURATION: Rule = [
  (value: unknown) => (tryParseDuration(value) ?? 0) >= 1000 && tryParseDuration(value)! <= 3_600_000,
  "must be a duration from 1 s to 1 h",
];

const RULES: Readonly<Record<keyof LeaseOptions, Rule>> = {
  name: A_TEXT,
  namespace: A_TEXT,
  duration: A_LEASE_DURATION,
  identity: A_TEXT,
  onError: A_FUNCTION,
  clock: A_CLOCK,
};

/** Lease as the server stores it. */
interface Lease extends KubeObject {
  readonly spec?: {
    readonly holderIdentity?: string;
    readonly leaseDurationSeconds?: number;
    readonly acquireTime?: string;
    readonly renewTime?: string;
    readonly leaseTransitions?: number;
  };
}

/**
 * Lease that one of several processes holds, as in client-go's
 * [leaderelection](https://pkg.go.dev/k8s.io/client-go/tools/leaderelection).
 *
 * A process takes the lease of another one only after it has seen no renewal for the whole duration, by its own clock.
 * The holder stops after 2/3 of the duration without a renewal. So wrong wall clocks do no harm.
 *
 * **This is not fencing.** A request that the old holder sent just before its deadline may reach the server after the
 * new holder has begun. Versions of objects ({@linkcode Cache.patch}) protect objects of the cluster; systems outside
 * the cluster need a protection of their own.
 */
export class LeaderLease {
  readonly #client: Client;
  readonly #options: LeaseOptions;
  readonly #identity: string;
  readonly #duration: number;
  readonly #clock: Clock;
  readonly #path: string;
  /** Version of the lease that was seen last, and the time at which it was seen first. */
  #seen: { version: string | undefined; at: number } | undefined;
  /** Time until which this process holds the lease; `undefined` if it doesn't. */
  #heldUntil: number | undefined;
  #ended = new AbortController();
  /**
   * Error of the latest try to acquire the lease, if the server refused it because a permission is missing.
   *
   * @internal
   */
  denial: ApiError | undefined = undefined;

  /**
   * Creates a lease, without acquiring it.
   *
   * @throws {TypeError} If an option is missing, unknown or of the wrong type.
   * @throws {RangeError} If `duration` is out of range.
   */
  constructor(client: Client, options: LeaseOptions) {
    requireRules(ACTION, options, RULES);
    const { name, namespace, duration = "15s", identity, clock = systemClock } = options;
    for (const [option, value] of Object.entries({ name, namespace })) requireRule(ACTION, option, value, A_TEXT);
    this.#client = client;
    this.#options = options;
    this.#identity = identity ?? `${hostname()}_${randomUUID()}`;
    this.#duration = tryParseDuration(duration)!;
    this.#clock = clock;
    this.#path = `/apis/${API}/namespaces/${encodeURIComponent(namespace)}/leases`;
  }

  /** Whether this process holds the lease now. */
  get isHeld(): boolean {
    return this.#heldUntil !== undefined && this.#clock.now() < this.#heldUntil;
  }

  /**
   * Throws if this process doesn't hold the lease. Call it just before each request that only the holder may send: a
   * process that was stopped for a while may go on before its timers fire.
   *
   * @throws {Error} With the code `WQ_LEASE_LOST`.
   */
  check(): void {
    if (!this.isHeld) throw lost("its deadline has passed");
  }

  /**
   * Resolves when this process holds the lease, and renews it from then on. Rejects with the signal's reason if it
   * aborts before.
   *
   * @param onLost Called once when this process no longer holds the lease, with an error with the code `WQ_LEASE_LOST`.
   * Not called after `release`.
   */
  async acquire(signal: AbortSignal, onLost: (error: Error) => void): Promise<void> {
    for (;;) {
      await this.#client.whenAnswering(signal);
      const sentAt = this.#clock.now();
      let error: unknown; // a conflict: another was faster
      const isTaken = await this.#take(signal).catch((thrown) => this.#report(error = thrown));
      this.denial = denialOf(error);
      if (isTaken) this.#heldUntil = sentAt + this.#duration * DEADLINE;
      if (this.isHeld) break;
      await sleep(this.#duration * RETRY * (1 + Math.random() / 5), signal, this.#clock);
    }
    this.#ended = new AbortController();
    this.#endAtDeadline(onLost).catch(() => {}); // the lease was released
    void this.#renew(onLost);
    if (!signal.aborted) return;
    await this.release(); // the answer came after the signal
    throw signal.reason;
  }

  /** Gives the lease back: another process takes it at its next try. Does nothing if this process doesn't hold it. */
  async release(): Promise<void> {
    if (this.#heldUntil === undefined) return;
    this.#heldUntil = undefined;
    this.#ended.abort(new Error("The lease was released"));
    const expired = new AbortController();
    const timer = this.#clock.setTimeout(() => expired.abort(new Error("The lease has expired")), this.#duration);
    const giveBack = () => this.#giveBack(expired.signal);
    await giveBack().catch((error) => isConflict(error) ? giveBack() : Promise.reject(error))
      .catch((error) => this.#report(error));
    this.#clock.clearTimeout(timer);
  }

  async #giveBack(signal: AbortSignal): Promise<void> {
    const lease = await this.#read(signal);
    if (lease?.spec?.holderIdentity !== this.#identity) return;
    await this.#write(lease, { ...lease.spec, holderIdentity: "", leaseDurationSeconds: 1 }, { signal });
  }

  /** Renews the lease until it is lost or released. */
  async #renew(onLost: (error: Error) => void): Promise<void> {
    const { signal } = this.#ended;
    while (!signal.aborted) {
      try {
        await sleep(this.#duration * RETRY, signal, this.#clock);
        await this.#client.whenAnswering(signal);
        const sentAt = this.#clock.now();
        const isTaken = await this.#take(signal, () => this.check());
        if (signal.aborted) return;
        if (isTaken) this.#heldUntil = sentAt + this.#duration * DEADLINE;
        else this.#lose(lost("another process holds it"), onLost);
      } catch (error) {
        if (!signal.aborted) this.#report(error);
      }
    }
  }

  /** Ends the lease at its deadline, whatever requests are in flight. */
  async #endAtDeadline(onLost: (error: Error) => void): Promise<void> {
    const { signal } = this.#ended;
    while (this.isHeld) {
      const left = Math.ceil(this.#heldUntil! - this.#clock.now()); // a timer takes whole milliseconds
      await sleep(left, signal, this.#clock);
    }
    this.#lose(lost("it could not be renewed in time"), onLost);
  }

  #lose(error: Error, onLost: (error: Error) => void): void {
    if (this.#ended.signal.aborted) return;
    this.#heldUntil = undefined;
    this.#ended.abort(error);
    onLost(error);
  }

  /**
   * Takes or renews the lease. Resolves with `false` if another process holds it, and rejects if it was written
   * meanwhile.
   *
   * @param signal Ends the reading, and not the writing: its answer says whether this process holds the lease.
   */
  async #take(signal: AbortSignal, onSent?: () => void): Promise<boolean> {
    const lease = await this.#read(signal);
    const { holderIdentity, leaseDurationSeconds, leaseTransitions = 0 } = lease?.spec ?? {};
    const isMine = holderIdentity === this.#identity;
    const duration = leaseDurationSeconds === undefined ? this.#duration : leaseDurationSeconds * 1000;
    if (holderIdentity && !isMine && this.#clock.now() - this.#seen!.at < duration) return false;
    const now = new Date().toISOString().slice(0, -1);
    // Differs from the last time even if the clock stands still, so that others see each renewal.
    const renewTime = `${now}${lease?.spec?.renewTime === `${now}000Z` ? "001" : "000"}Z`;
    await this.#write(lease, {
      ...lease?.spec,
      holderIdentity: this.#identity,
      leaseDurationSeconds: Math.ceil(this.#duration / 1000),
      renewTime,
      ...!isMine &&
        { acquireTime: renewTime, leaseTransitions: lease ? leaseTransitions + 1 : 0 },
    }, onSent && { onSent });
    return true;
  }

  /** Reads the lease, and notes when its version was seen first. Resolves with `undefined` if there is none. */
  async #read(signal: AbortSignal): Promise<Lease | undefined> {
    const path = `${this.#path}/${this.#options.name}`;
    const options = { timeout: this.#duration * TIMEOUT, signal };
    const lease = await this.#client.request<Lease>("GET", path, options).catch(ignoreAbsence);
    const version = lease?.metadata.resourceVersion;
    if (this.#seen?.version !== version) this.#seen = { version, at: this.#clock.now() };
    return lease;
  }

  /** Replaces the lease, or creates it if there is none. */
  async #write(
    lease: Lease | undefined,
    spec: Lease["spec"],
    options?: Pick<RequestOptions, "onSent" | "signal">,
  ): Promise<void> {
    const { name, namespace } = this.#options;
    const [method, path] = lease ? ["PUT", `${this.#path}/${name}`] : ["POST", this.#path];
    const body = { apiVersion: API, kind: "Lease", metadata: { name, namespace }, ...lease, spec };
    await this.#client.request(method, path, { timeout: this.#duration * TIMEOUT, body, ...options });
  }

  /** Reports an error, unless it only says that another process was faster. */
  #report(error: unknown): false {
    const isLate = isConflict(error) || error instanceof ApiError && error.reason === "AlreadyExists";
    if (!isLate && this.#options.onError) callSafely(this.#options.onError, () => {}, error);
    return false;
  }
}

function lost(reason: string): Error {
  return withCode("WQ_LEASE_LOST", new Error(`The lease of the leader was lost: ${reason}`));
}
