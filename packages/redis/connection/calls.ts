import type { Call } from "./call.ts";
import type { Script } from "./connection.ts";
import {
  errorOfMove,
  inWords,
  isAway,
  isHopeless,
  isReply,
  isUnknownHeader,
  isUnknownScript,
  messageOf,
  RedisConnectionError,
  toError,
} from "./errors.ts";
import { guardOf } from "./hash_slot.ts";
import { Line } from "./line.ts";
import { hasHeader } from "./script.ts";
import { Timeouts } from "./timeouts.ts";
import { Watchdog } from "./watchdog.ts";
import type { Dialer, Wire } from "./wire.ts";

/** Calls from a process to a server. Calls are queued while there is no wire. */
export class Calls {
  readonly #address: string;
  /** Whether the server is a node of a cluster. */
  readonly #isNode: boolean;
  /** Whether scripts are sent without their first line, because a server did not know it. */
  #isHeadless = false;
  readonly #line: Line<Wire>;
  readonly #callbacks = new Set<() => void>();
  /** Unanswered calls, by timeout. */
  readonly #unanswered = new Map<number, Timeouts>();
  /** Number of unanswered calls that were sent on the current wire. */
  #sent = 0;
  /** Number of calls made so far. */
  #made = 0;
  #wire: Wire | undefined;
  #watchdog: Watchdog | undefined;
  /** Scripts whose text was sent on the current wire. */
  #known = new Set<Script>();
  #hadWire = false;
  #isResuming = false;
  /**
   * Error with which the server temporarily refused a call. After such an error, the wire ends once every call sent on
   * it is answered.
   */
  #leaving: Error | undefined;

  constructor(dialer: Dialer) {
    this.#address = dialer.address;
    this.#isNode = dialer.isNode === true;
    this.#line = new Line((signal) => dialer.dial(signal), {
      onUp: (wire) => this.#up(wire),
      onDown: (reason) => this.#down(reason),
      onRefused: (error) => this.#refused(error),
    });
  }

  /** Makes a call. */
  make(call: Call): void {
    call.turn = this.#made++;
    call.isOfWire = this.#isResuming;
    this.#timeoutsOf(call).add(call);
    if (this.canSend) this.#send(call); // no other call is queued, except while a new wire is being set up
    else if (call.isOfWire) this.#failAgain(call);
    this.#line.start();
  }

  /** Calls `callback` for each new wire after the first one. Returns an unsubscribe function. */
  onReconnect(callback: () => void): () => void {
    const entry = () => callback(); // the same function may be registered twice
    this.#callbacks.add(entry);
    return () => this.#callbacks.delete(entry);
  }

  /** Closes the connection. Must not be called before all calls have been answered. */
  close(): void {
    this.#line.close();
    for (const calls of this.#unanswered.values()) calls.close();
  }

  /** Whether a new call would be sent immediately. */
  get canSend(): boolean {
    return this.#wire?.isReady === true && this.#leaving === undefined;
  }

  #timeoutsOf({ timeout }: Call): Timeouts {
    const same = this.#unanswered.get(timeout) ?? new Timeouts(timeout, (call) => this.#expire(call));
    this.#unanswered.set(timeout, same);
    return same;
  }

  /** Returns the calls sent on a wire, oldest first. If `wire` is `undefined`, returns the queued calls. */
  #callsOn(wire: Wire | undefined): Call[] {
    const calls = [...this.#unanswered.values()].flatMap((same) => [...same].filter((call) => call.wire === wire));
    return calls.sort((one, other) => one.turn - other.turn);
  }

  #up(wire: Wire): void {
    this.#wire = wire;
    this.#watchdog = new Watchdog(wire);
    this.#leaving = undefined;
    this.#known = wire.known ?? new Set();
    if (this.#hadWire) this.#resume();
    this.#hadWire = true;
    for (const call of this.#callsOn(undefined)) if (this.canSend) this.#send(call);
  }

  #resume(): void {
    this.#isResuming = true;
    for (const callback of [...this.#callbacks]) callback();
    this.#isResuming = false;
  }

  #down(reason: Error): void {
    const wire = this.#wire;
    this.#wire = undefined;
    this.#watchdog?.close();
    for (const call of this.#callsOn(wire)) this.#lose(call, reason);
  }

  #refused(error: Error): void {
    if (!isHopeless(error)) return;
    const message = `Cannot reach Redis at ${this.#address}: ${messageOf(error)}`;
    for (const call of this.#callsOn(undefined)) this.#fail(call, message, call.mayHaveRun, error);
  }

  #send(call: Call, isWhole = false): void {
    const wire = this.#wire!;
    call.wire = wire;
    this.#sent++;
    wire.send(this.#commandOf(call, isWhole)).then(
      (reply) => call.wire === wire && this.#answer(call, reply),
      (error) => call.wire === wire && this.#refuse(call, wire, toError(error)),
    );
    this.#watchdog!.sent();
  }

  /**
   * Returns the command for a call. The command contains the script's text if this is the script's first call on the
   * wire, or if the server asked for the text. After a restart, a server has no scripts. If the server had to ask for
   * each script, calls would run out of order.
   *
   * While a cluster moves a slot, some keys of the slot are already on the new node. A script would fail at the first
   * key that is not on its node, after it has changed others. So each call also names a key that never exists: if a key
   * of a call is not on the node, the node refuses the call before the script begins.
   */
  #commandOf({ script, key, args, retry, mayHaveRun }: Call, isWhole: boolean): string[] {
    const isKnown = this.#known.has(script) && !isWhole;
    this.#known.add(script);
    const version = this.#isNode ? script.onNode : script;
    const { sha1, text } = this.#isHeadless ? version.headless : version;
    const command = isKnown ? ["EVALSHA", sha1] : ["EVAL", text];
    if (this.#isNode) command.push("2", key, guardOf(key));
    else command.push("1", key);
    for (const arg of args) command.push(String(arg));
    if (retry === "marked") command.push(mayHaveRun ? "1" : "0");
    return command;
  }

  #answer(call: Call, reply: unknown): void {
    this.#line.worked();
    this.#settle(call);
    call.resolve(reply);
    this.#heard();
  }

  #refuse(call: Call, wire: Wire, error: Error): void {
    const moved = this.#isNode ? undefined : errorOfMove(this.#address, error);
    if (!isReply(error)) {
      this.#lose(call, error);
      wire.close(error);
    } else if (isUnknownScript(error) || (hasHeader(call.script) && isUnknownHeader(error))) {
      this.#isHeadless ||= !isUnknownScript(error);
      // Sent again, the call would come after calls that it must precede.
      if (call.isOfWire) return this.#failAgain(call, error);
      this.#queue(call);
      if (this.canSend) this.#send(call, true);
    } else if (moved === undefined && isAway(error)) {
      this.#leaving = error;
      this.#keep(call, error);
    } else {
      this.#settle(call);
      call.reject(moved ?? error);
    }
    this.#heard();
  }

  #heard(): void {
    this.#watchdog?.heard(this.#sent > 0);
    if (this.#leaving !== undefined && this.#sent === 0) this.#wire?.close(this.#leaving);
  }

  #lose(call: Call, reason: Error): void {
    call.mayHaveRun = true;
    if (call.retry !== "never") return this.#keep(call, reason);
    const message = `The connection to Redis at ${this.#address} broke before the answer came: it is unknown whether ` +
      `the call took effect: ${messageOf(reason)}`;
    this.#fail(call, message, true, reason);
  }

  /** Queues a call for the next wire. Rejects a call that must not be repeated on another wire. */
  #keep(call: Call, reason: Error): void {
    if (call.isOfWire) this.#failAgain(call, reason);
    else this.#queue(call);
  }

  #queue(call: Call): void {
    call.wire = undefined;
    this.#sent--;
  }

  #expire(call: Call): void {
    const { wire, mayHaveRun, timeout } = call;
    const within = `within ${inWords(timeout)}`;
    if (wire === undefined) {
      const reason = this.#line.lastError;
      const doubt = mayHaveRun ? ". It was sent before: it is unknown whether the call took effect" : "";
      const why = reason === undefined ? "there is no answer" : messageOf(reason);
      this.#fail(call, `Cannot reach Redis at ${this.#address} ${within}: ${why}${doubt}`, mayHaveRun, reason);
    } else {
      const message = `Redis at ${this.#address} did not answer ${within}: it is unknown whether the call took effect`;
      this.#fail(call, message, true);
      wire.close(new Error(`there was no answer ${within}`)); // no later call may overtake this call
    }
  }

  #failAgain(call: Call, reason?: Error): void {
    this.#fail(call, `The connection to Redis at ${this.#address} broke again`, call.mayHaveRun, reason);
  }

  #fail(call: Call, message: string, mayHaveRun: boolean, cause?: Error): void {
    this.#settle(call);
    call.reject(new RedisConnectionError(message, { mayHaveRun, ...cause && { cause } }));
  }

  #settle(call: Call): void {
    if (call.wire !== undefined) this.#sent--;
    call.wire = undefined;
    this.#timeoutsOf(call).delete(call);
    call.onSettled();
  }
}
