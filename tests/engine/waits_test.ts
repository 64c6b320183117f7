/** Tests of the waits of a process: what the engine is told of calls that end. */

import { assertEquals, assertRejects } from "@std/assert";
import { FakeTime } from "@std/testing/time";
import type { Awaiting, ProcessListener, RankedEntry, WaitOutcome, WaitsReply, WaitsRequest } from "@workqueue/engine";
import { Waits } from "../../packages/engine/waits.ts";
import { flush } from "../queue_helpers.ts";

/** Engine that answers adds, and calls for outcomes, when the test says so. */
class FakeEngine implements Awaiting {
  listener: ProcessListener | undefined;
  /** Ends of the adds that are running. */
  readonly adds: (() => void)[] = [];
  /** Calls for outcomes that are running. */
  readonly looks: {
    readonly request: WaitsRequest;
    answer(outcomes?: WaitOutcome[]): void;
    refuse(error: Error): void;
  }[] = [];

  addAndWait(): Promise<void> {
    return new Promise((resolve) => this.adds.push(resolve));
  }

  waits(request: WaitsRequest): Promise<WaitsReply> {
    return new Promise((resolve, refuse) => {
      this.looks.push({ request, answer: (outcomes = []) => resolve({ outcomes, isMore: false, lost: [] }), refuse });
    });
  }

  listen(_process: string, listener: ProcessListener): Promise<() => void> {
    this.listener = listener;
    return Promise.resolve(() => {});
  }

  /** Removes and returns what the oldest running call for outcomes says, and answers it. */
  answer(outcomes?: WaitOutcome[]): Pick<WaitsRequest, "received" | "ended"> {
    const { request: { received, ended }, answer } = this.looks.shift()!;
    answer(outcomes);
    return { received, ended };
  }
}

const ENTRY: RankedEntry = { key: "a", payload: "", delay: 0, priority: 0 };
const NOTHING = { received: [], ended: [] };

/** Runs a test with a call that waits, and whose item the engine has. */
async function withCall(
  run: (parts: { engine: FakeEngine; waits: Waits; result: Promise<unknown>; end: AbortController }) => Promise<void>,
): Promise<void> {
  using _time = new FakeTime();
  const engine = new FakeEngine();
  const waits = new Waits(engine, (error) => {
    throw error;
  });
  const end = new AbortController();
  const { result } = waits.add(ENTRY, end.signal);
  result.catch(() => {});
  await flush();
  assertEquals(engine.answer(), NOTHING); // a message may have come before the process listened
  await flush();
  engine.adds[0]!();
  await flush();
  await run({ engine, waits, result, end });
}

Deno.test("a message that comes when a look has just ended leads to another look", () =>
  withCall(async ({ engine, result }) => {
    const isWoken = result.then(() => engine.listener!.wake(0));
    engine.listener!.wake(0);
    engine.answer([{ ids: "1", outcome: "value 1" }]);
    await isWoken;
    assertEquals(engine.answer(), { received: ["1"], ended: [] });
  }));

Deno.test("waits that are closed leave neither waits nor outcomes in the engine", () =>
  withCall(async ({ engine, waits, result }) => {
    const isClosed = waits.close();
    assertEquals(engine.answer(), NOTHING);
    await assertRejects(() => result, Error, "shut down");
    assertEquals(engine.answer([{ ids: "1", outcome: "done" }]), { received: [], ended: [{ key: "a", id: 1 }] });
    await flush();
    assertEquals(engine.answer(), { received: ["1"], ended: [] });
    await isClosed;
  }));

Deno.test("the engine is told that a wait has ended once it has the wait", () =>
  withCall(async ({ engine, waits, end }) => {
    const { result } = waits.add(ENTRY, end.signal);
    end.abort(new Error("left"));
    await assertRejects(() => result, Error, "left");
    engine.listener!.wake(0);
    assertEquals(engine.answer(), { received: [], ended: [{ key: "a", id: 1 }] });
    engine.adds[1]!();
    await flush();
    const isClosed = waits.close();
    await flush();
    assertEquals(engine.answer(), { received: [], ended: [{ key: "a", id: 2 }] });
    await isClosed;
  }));

Deno.test("a signal that has aborted before the item is added ends the wait and adds the item", () =>
  withCall(async ({ engine, waits, end }) => {
    end.abort(new Error("left"));
    const { result } = waits.add(ENTRY, end.signal);
    await assertRejects(() => result, Error, "left");
    assertEquals(engine.adds.length, 2);
  }));

Deno.test("a call waits while the engine can't be reached, and rejects if the engine refuses to answer", () =>
  withCall(async ({ engine, result }) => {
    for (const error of [Object.assign(new Error("away"), { code: "WQ_CONNECTION" }), new Error("divided")]) {
      engine.listener!.wake(0);
      engine.looks.shift()!.refuse(error);
      await flush();
    }
    await assertRejects(() => result, Error, "divided");
  }));
