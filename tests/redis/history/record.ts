/** Recording of the calls of engines. */

import type { Engine, Finish, RankedEntry, TurnReply, TurnRequest } from "@workqueue/engine";
import type { Call, Reply, Write } from "./event.ts";

/** Methods that are recorded: the call for the arguments, and the reply for the result. */
const RECORDED: { [Name in keyof Engine]?: readonly [CallOf, ReplyOf?] } = {
  add: [(_engine, entries: readonly { key: string }[], delay = 0) => ({
    do: "add",
    rows: entries.map(({ key }) => [key, delay, 0]),
  })],
  addEach: [(_engine, entries: readonly RankedEntry[]) => ({
    do: "add",
    rows: entries.map(({ key, delay, priority }) => [key, delay, priority]),
  })],
  addAndWait: [(_engine, { key, delay, priority }: RankedEntry) => ({ do: "add", rows: [[key, delay, priority]] })],
  addRateLimited: [
    (_engine, { key }: { key: string }) => ({ do: "addLimited", key }),
    (failures: number | undefined) => ({ isSo: failures === undefined }),
  ],
  redrive: [() => ({ do: "redrive" })],
  discard: [() => ({ do: "discard" })],
  turn: [
    ({ settings }, { owner, wanted, throttle, finishes }: TurnRequest) => ({
      do: "turn",
      owner,
      wanted,
      lease: settings.leaseDuration,
      bucket: throttle && { id: throttle.id, rate: throttle.rate, burst: throttle.burst },
      finishes: finishes.map(({ key, token, kind, delay = 0 }: Finish) => [key, token, kind, delay]),
    }),
    ({ taken, answers, givenUp, isLost }: TurnReply) => ({
      taken: taken.map(({ key, token, priority = 0 }) => [key, token, priority]),
      answers,
      givenUp: givenUp.map(({ key }) => key),
      isLost,
    }),
  ],
  renew: [({ settings }, owner: string) => ({ do: "renew", owner, lease: settings.leaseDuration }), isDefined],
  release: [(_engine, owner: string, known: readonly string[]) => ({ do: "release", owner, known })],
  leave: [(_engine, _process: string, owner: string) => ({ do: "leave", owner })],
  cancel: [(_engine, key: string) => ({ do: "cancel", key }), isDefined],
  cancelDelayed: [(_engine, key: string) => ({ do: "cancel", key }), isSo],
  promoteDelayed: [(_engine, key: string) => ({ do: "promote", key }), isSo],
  pauseUntil: [(_engine, duration: number) => ({ do: "pause", duration })],
  pauseGroup: [(_engine, group: string, duration: number) => ({ do: "pause", group, duration }), isSo],
  resume: [() => ({ do: "resume" })],
  resumeGroup: [(_engine, group: string) => ({ do: "resume", group })],
};

// deno-lint-ignore no-explicit-any -- each method has its own arguments
type CallOf = (engine: Engine, ...args: any[]) => Call;
// deno-lint-ignore no-explicit-any -- each method has its own result
type ReplyOf = (result: any) => Reply;

/** Number of recorded calls, which the engines of this process share. */
let calls = 0;

function isSo(result: boolean): Reply {
  return { isSo: result };
}

function isDefined(result: unknown): Reply {
  return { isSo: result !== undefined };
}

/**
 * Records the calls of an engine from now on, or, given the prototype of engines, of every engine of this process.
 * `now` returns the time in milliseconds. `writeOf` returns the function that writes the lines of a queue.
 */
export function recordCalls(
  target: Engine,
  now: () => number,
  writeOf: (queue: string) => Write | undefined,
): void {
  for (const [name, [callOf, replyOf = () => ({})]] of Object.entries(RECORDED)) {
    const method = target[name as "add"] as (...args: unknown[]) => Promise<unknown>;
    const recorded = async function (this: Engine, ...args: unknown[]): Promise<unknown> {
      const write = writeOf(this.settings.name);
      if (write === undefined) return await method.apply(this, args);
      const call = ++calls;
      write({ at: now(), call, ...callOf(this, ...args) });
      try {
        const result = await method.apply(this, args);
        write({ at: now(), reply: call, ...replyOf(result) });
        return result;
      } catch (error) {
        const { mayHaveRun = true } = error as { mayHaveRun?: boolean };
        write({ at: now(), failed: call, mayHaveRun });
        throw error;
      }
    };
    Object.defineProperty(target, name, { value: recorded, writable: true, configurable: true });
  }
}
