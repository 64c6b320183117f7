/** Connections to the nodes of a Redis Cluster. */

import { type Address, showAddress } from "./address.ts";
import { ask } from "./ask.ts";
import { isHopeless, isMoving, messageOf, movedTo, toError } from "./errors.ts";
import { firstAnswer } from "./first_answer.ts";
import { slotOf, SLOTS } from "./hash_slot.ts";
import { openWire } from "./node_redis.ts";
import { NodeConnection, type SharedWire } from "./shared_wire.ts";
import type { ClusterDialer, Dialer, OnMessage, SubscriberWire } from "./wire.ts";

/** Place of a node. */
type Place = Pick<Address, "host" | "port">;

/** Connections to one node. */
interface Node {
  readonly calls: NodeConnection;
  readonly messages: NodeConnection;
}

/**
 * Cluster. Each hash slot has a line of calls of its own, which connects to the node that owns the slot. If the node
 * fails, or no longer owns the slot, the line connects again, as it would to a single server. Slots on the same node
 * share two connections.
 */
export class Cluster implements ClusterDialer {
  readonly address: string;
  readonly database = 0;
  readonly slotOf: (key: string) => number = slotOf;
  readonly #seeds: readonly Address[];
  readonly #silence: number;
  readonly #closing = new AbortController();
  readonly #nodes = new Map<string, Node>();
  /** Nodes to ask who owns the slots, in the order in which they are asked. */
  #known: readonly Place[];
  /** Owners of the slots; empty if they are unknown. */
  #owners: (Place | undefined)[] = [];
  #asking: Promise<void> | undefined;
  /** Wires on which slots receive messages, with their nodes. */
  readonly #listening = new Map<number, { wire: SharedWire; node: string }>();

  constructor(seeds: readonly Address[], silence: number) {
    this.address = `${showAddress(seeds[0]!)} (cluster)`;
    this.#seeds = seeds;
    this.#known = seeds;
    this.#silence = silence;
  }

  dialerOf(slot: number): Dialer {
    return {
      isNode: true,
      address: this.address,
      database: this.database,
      dial: () => this.#dial(slot),
      dialSubscriber: (_signal, onMessage) => this.#dialSubscriber(slot, onMessage),
    };
  }

  close(): void {
    const reason = new Error("the connection was closed");
    this.#closing.abort(reason);
    for (const { calls, messages } of this.#nodes.values()) for (const one of [calls, messages]) one.close(reason);
  }

  async #dial(slot: number): Promise<SharedWire> {
    const [node, wire] = await this.#join(slot, ({ calls }) => calls.join());
    // The node from which messages came may still run, and would not report that the slot has moved.
    const listening = this.#listening.get(slot);
    if (listening !== undefined && listening.node !== node) listening.wire.end(new Error(`the slot is on ${node}`));
    return wire;
  }

  async #dialSubscriber(slot: number, onMessage: OnMessage): Promise<SharedWire> {
    const [node, wire] = await this.#join(slot, ({ messages }) => messages.join(onMessage));
    this.#listening.set(slot, { wire, node });
    return wire;
  }

  /** Opens a wire to the node that owns a slot. Returns the wire and the node's name. */
  async #join(slot: number, join: (node: Node) => Promise<SharedWire>): Promise<[node: string, SharedWire]> {
    const place = await this.#ownerOf(slot);
    const node = showAddress(place);
    try {
      const wire = await join(this.#nodeAt(place));
      wire.ended.then((reason) => this.#learn(slot, reason));
      return [node, wire];
    } catch (error) {
      this.#owners = [];
      throw named(node, error);
    }
  }

  /** Learns where a slot is from the error that ended a wire. */
  #learn(slot: number, reason: Error): void {
    const place = movedTo(reason);
    if (place !== undefined && this.#owners.length > 0) this.#owners[slot] = place;
    else if (!isMoving(reason)) this.#owners = [];
  }

  async #ownerOf(slot: number): Promise<Place> {
    if (this.#owners.length === 0) await (this.#asking ??= this.#ask().finally(() => this.#asking = undefined));
    const owner = this.#owners[slot];
    if (owner !== undefined) return owner;
    this.#owners = [];
    throw new Error(`no node has slot ${slot}`);
  }

  /** Asks the nodes for the owners of the slots. */
  async #ask(): Promise<void> {
    const { signal } = this.#closing;
    const [node, reply] = await firstAnswer(this.#known, (node, signal) => this.#slotsBy(node, signal), signal);
    const owners = new Array<Place | undefined>(SLOTS).fill(undefined);
    const masters = new Map<string, Place>();
    for (const [first, last, [host, port]] of reply) {
      const isKnown = host !== null && host !== "" && host !== "?";
      const place = { host: isKnown ? host : node.host, port };
      masters.set(showAddress(place), place);
      owners.fill(place, first, last + 1);
    }
    this.#owners = owners;
    const others = [...masters.values(), ...this.#seeds].filter((other) => showAddress(other) !== showAddress(node));
    this.#known = [node, ...others];
    for (const [name, { calls, messages }] of this.#nodes) {
      if (!masters.has(name) && !calls.isUsed && !messages.isUsed) this.#nodes.delete(name);
    }
  }

  async #slotsBy(node: Place, signal: AbortSignal): Promise<[Place, Slots]> {
    let wire: SubscriberWire | undefined;
    try {
      wire = await openWire(this.#addressOf(node), this.#silence, signal);
      return [node, await ask(wire, ["CLUSTER", "SLOTS"], signal) as Slots];
    } catch (error) {
      throw named(showAddress(node), error);
    } finally {
      wire?.close(new Error("it has answered"));
    }
  }

  #nodeAt(place: Place): Node {
    const name = showAddress(place);
    const open = (isCalls: boolean) =>
      new NodeConnection((signal, onMessage, onMoved) => {
        return openWire(this.#addressOf(place), this.#silence, signal, ...isCalls ? [] : [onMessage, onMoved] as const);
      });
    const node = this.#nodes.get(name) ?? { calls: open(true), messages: open(false) };
    this.#nodes.set(name, node);
    return node;
  }

  #addressOf({ host, port }: Place): Address {
    return { ...this.#seeds[0]!, host, port };
  }
}

/** Returns the error with the name of the node in its message, unless `isHopeless` must recognize the error. */
function named(node: string, error: unknown): Error {
  const reason = toError(error);
  return isHopeless(reason) ? reason : new Error(`node ${node}: ${messageOf(reason)}`, { cause: reason });
}

/** Reply to `CLUSTER SLOTS`: ranges of slots, each with its master. Replicas follow. */
type Slots = [first: number, last: number, master: [host: string | null, port: number]][];
