/** Connections to the master that Redis Sentinels watch. */

import { type Address, showAddress } from "./address.ts";
import { ask } from "./ask.ts";
import { isReply, messageOf, toError } from "./errors.ts";
import { firstAnswer } from "./first_answer.ts";
import { openWire } from "./node_redis.ts";
import type { Dialer, OnMessage, SubscriberWire } from "./wire.ts";

/**
 * Returns a dialer for the current master. Each time a wire is opened, Sentinels are asked where the master is. The
 * host of `master` is the master's name.
 */
export function dialMaster(master: Address, sentinels: readonly Address[], silence: number): Dialer {
  const name = master.host;
  let known = [...sentinels];

  const find = async (signal: AbortSignal): Promise<Address> => {
    const [sentinel, place] = await firstAnswer(known, async (sentinel, signal) => {
      return [sentinel, await placeOf(name, sentinel, silence, signal)] as const;
    }, signal);
    known = [sentinel, ...known.filter((other) => other !== sentinel)];
    return { ...master, ...place };
  };
  const open = async (signal: AbortSignal, onMessage?: OnMessage): Promise<SubscriberWire> => {
    const address = await find(signal);
    const wire = await openWire(address, silence, signal, onMessage);
    try {
      await requireMaster(wire, address, signal);
    } catch (error) {
      wire.close(toError(error));
      throw error;
    }
    return wire;
  };
  return { address: `${name} (Sentinel)`, database: master.database, dial: open, dialSubscriber: open };
}

/** Asks a Sentinel for the address of a master. */
async function placeOf(
  name: string,
  sentinel: Address,
  silence: number,
  signal: AbortSignal,
): Promise<{ host: string; port: number }> {
  const at = `Sentinel at ${showAddress(sentinel)}`;
  let wire: SubscriberWire | undefined;
  try {
    wire = await openWire(sentinel, silence, signal);
    const reply = await ask(wire, ["SENTINEL", "GET-MASTER-ADDR-BY-NAME", name], signal);
    if (!Array.isArray(reply)) throw new Error(`it knows no master with the name "${name}"`);
    return { host: String(reply[0]), port: Number(reply[1]) };
  } catch (error) {
    const reason = toError(error);
    if (isReply(reason)) throw reason;
    throw new Error(`${at}: ${messageOf(reason)}`, { cause: reason });
  } finally {
    wire?.close(new Error("it has answered"));
  }
}

/**
 * Throws unless the server is a master. After a failover, a Sentinel may name the former master for a moment. Does not
 * throw if the user has no right to ask: a replica refuses writes anyway.
 */
async function requireMaster(wire: SubscriberWire, address: Address, signal: AbortSignal): Promise<void> {
  let role = "master";
  try {
    [role] = await ask(wire, ["ROLE"], signal) as [string];
  } catch (error) {
    if (!isReply(error)) throw error;
  }
  if (role !== "master") throw new Error(`the server at ${showAddress(address)} is a ${role}, not the master`);
}
