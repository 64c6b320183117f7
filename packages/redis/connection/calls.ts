import type { Retry, Script } from "./connection.ts";
import {
  inWords,
  isAway,
  isHopeless,
  isReply,
  isUnknownScript,
  messageOf,
  RedisConnectionError,
  toError,
} from "./errors.ts";
import { Line } from "./line.ts";
import type { Dialer, Wire } from "./wire.ts";

/** A call of a script that has not been answered. */
export interface Call {
  readonly script: Script;
  readonly key: string;
  readonly args: readonly (string | number)[];
  readonly retry: Retry;
  /** For how long it is tried. */
  readonly patience: number;
  resolve(reply: unknown): void;
  reject(error: Error): void;
}

/** How far a call has come. */
interface Pending {
  readonly call: Call;
  /** When it was made, in the order of all. */
  readonly turn: number;
  /** Belongs to the wire that was new when it was made, and is not made again on another. */
  readonly isOfWire: boolean;
  /** What it was sent on and may be answered on; none while it is held back. */
  wire: Wire | undefined;
  /** Whether it was sent on a wire that ended, so that nobody knows whether it ran. */
  mayHaveRun: boolean;
}

/** The calls of a process to a server: sends them, and holds them back while there is nothing to send them on. */
export class Calls {
  readonly #address: string;
  readonly #line: Line<Wire>;
  readonly #callbacks = new Set<() => void>();
  readonly #pending = new Map<Call, Pending>();
  /** Of those, the ones that were sent and can still be answered. */
  readonly #sent = new Set<Pending>();
  /** And the others. */
  readonly #held = new Set<Pending>();
  #wire: Wire | undefined;
  /** The scripts whose text was sent on this wire. */
  readonly #known = new Set<Script>();
  #turn = 0;
  #hadWire = false;
  #isResuming = false;
  /** The server cannot be used now: this wire ends when what was sent on it has been answered. */
  #leaving: Error | undefined;

  constructor(dialer: Dialer) {
    this.#address = dialer.address;
    this.#line = new Line((signal) => dialer.dial(signal), {
      onUp: (wire) => this.#up(wire),
      onDown: (reason) => this.#down(reason),
      onRefused: (error) => this.#refused(error),
    });
  }

  /** Makes a call. */
  make(call: Call): void {
    const one = { call, turn: this.#turn++, isOfWire: this.#isResuming, wire: undefined, mayHaveRun: false };
    this.#pending.set(call, one);
    const isNext = this.#held.size === 0 || this.#isResuming;
    if (isNext && this.#canSend) this.#send(one);
    else this.#hold(one);
    this.#line.start();
  }

  /** Gives calls up whose time is over. */
  expire(call: Call): void {
    const one = this.#pending.get(call);
    if (one === undefined) return;
    const within = `within ${inWords(call.patience)}`;
    const { wire } = one;
    if (wire === undefined) {
      const { lastError } = this.#line;
      const reason = lastError === undefined ? "there is no answer" : messageOf(lastError);
      const doubt = one.mayHaveRun ? " It is unknown whether the call, which was sent before, took effect." : "";
      const message = `Cannot reach Redis at ${this.#address} ${within}: ${reason}.${doubt}`;
      this.#fail(one, message, one.mayHaveRun, lastError);
      return;
    }
    const message = `Redis at ${this.#address} did not answer ${within}: it is unknown whether the call took effect`;
    this.#fail(one, message, true);
    wire.close(new Error(`there was no answer ${within}`)); // what comes next must not pass for this one's effect
  }

  /** Calls back whenever there is a wire after the first one. */
  onReconnect(callback: () => void): () => void {
    const entry = () => callback(); // the same function may be given twice
    this.#callbacks.add(entry);
    return () => this.#callbacks.delete(entry);
  }

  /** Ends the connection. No calls must be pending. */
  close(): void {
    this.#line.close();
  }

  get #canSend(): boolean {
    return this.#wire?.isReady === true && this.#leaving === undefined;
  }

  #up(wire: Wire): void {
    this.#wire = wire;
    this.#leaving = undefined;
    this.#known.clear();
    if (this.#hadWire) this.#resume();
    this.#hadWire = true;
    const held = [...this.#held].sort((one, other) => one.turn - other.turn);
    this.#held.clear();
    for (const one of held) this.#canSend ? this.#send(one) : this.#hold(one);
  }

  #resume(): void {
    this.#isResuming = true;
    for (const callback of [...this.#callbacks]) callback();
    this.#isResuming = false;
  }

  #down(reason: Error): void {
    this.#wire = undefined;
    for (const one of [...this.#sent]) this.#lose(one, reason);
  }

  #refused(error: Error): void {
    if (!isHopeless(error)) return;
    for (const one of [...this.#held]) {
      this.#fail(one, `Cannot reach Redis at ${this.#address}: ${messageOf(error)}`, one.mayHaveRun, error);
    }
  }

  #send(one: Pending, isWhole = false): void {
    const { script, key, args, retry } = one.call;
    const wire = this.#wire!;
    one.wire = wire;
    this.#sent.add(one);
    // Whole for the first time on each wire: a server that was restarted knows no scripts, and calls keep their order.
    const command = isWhole || !this.#known.has(script) ? ["EVAL", script.text] : ["EVALSHA", script.sha1];
    this.#known.add(script);
    command.push("1", key);
    for (const arg of args) command.push(String(arg));
    if (retry === "marked") command.push(one.mayHaveRun ? "1" : "0");
    wire.send(command).then(
      (reply) => one.wire === wire && this.#answer(one, reply),
      (error) => one.wire === wire && this.#refuse(one, wire, toError(error)),
    );
  }

  #answer(one: Pending, reply: unknown): void {
    this.#line.worked();
    this.#settled(one);
    one.call.resolve(reply);
    this.#leaveIfAnswered();
  }

  #refuse(one: Pending, wire: Wire, error: Error): void {
    if (!isReply(error)) {
      this.#lose(one, error);
      wire.close(error);
    } else if (isUnknownScript(error)) {
      this.#sent.delete(one);
      this.#canSend ? this.#send(one, true) : this.#hold(one, error);
    } else if (isAway(error)) {
      this.#hold(one, error);
      this.#leaving = error;
    } else {
      this.#line.worked();
      this.#settled(one);
      one.call.reject(error);
    }
    this.#leaveIfAnswered();
  }

  #leaveIfAnswered(): void {
    if (this.#leaving !== undefined && this.#sent.size === 0) this.#wire?.close(this.#leaving);
  }

  #lose(one: Pending, reason: Error): void {
    one.mayHaveRun = true;
    if (one.call.retry !== "never") return this.#hold(one, reason);
    const message = `The connection to Redis at ${this.#address} broke before the answer came: it is unknown whether ` +
      `the call took effect: ${messageOf(reason)}`;
    this.#fail(one, message, true, reason);
  }

  /** Keeps a call for the next wire. */
  #hold(one: Pending, reason?: Error): void {
    this.#sent.delete(one);
    one.wire = undefined;
    if (!one.isOfWire) this.#held.add(one);
    else this.#fail(one, `The connection to Redis at ${this.#address} broke again`, one.mayHaveRun, reason);
  }

  #fail(one: Pending, message: string, mayHaveRun: boolean, cause?: Error): void {
    this.#settled(one);
    one.call.reject(new RedisConnectionError(message, { mayHaveRun, ...cause && { cause } }));
  }

  #settled(one: Pending): void {
    one.wire = undefined;
    this.#sent.delete(one);
    this.#held.delete(one);
    this.#pending.delete(one.call);
  }
}
