import { assert, assertEquals, assertRejects, assertStrictEquals } from "@std/assert";
import { parallelizeUntil } from "@workqueue/core";
import { flush } from "../queue_helpers.ts";

/** Pieces of work that end when the test calls `end` or `fail`. */
class Pieces {
  readonly begun: number[] = [];
  readonly #ends = new Map<number, PromiseWithResolvers<void>>();

  readonly work = (piece: number): Promise<void> => {
    this.begun.push(piece);
    const end = Promise.withResolvers<void>();
    this.#ends.set(piece, end);
    return end.promise;
  };

  async end(piece: number): Promise<void> {
    this.#ends.get(piece)!.resolve();
    await flush();
  }

  async fail(piece: number, error: unknown): Promise<void> {
    this.#ends.get(piece)!.reject(error);
    await flush();
  }
}

Deno.test("every piece is processed exactly once, whatever the workers and the chunks", async () => {
  const cases = [
    { workers: 10, pieces: 1000, chunkSize: 1 },
    { workers: 10, pieces: 1000, chunkSize: 10 },
    { workers: 10, pieces: 1000, chunkSize: 100 },
    { workers: 10, pieces: 999, chunkSize: 13 },
    { workers: 1, pieces: 5, chunkSize: 5 },
    { workers: 3, pieces: 1, chunkSize: 7 },
    { workers: 1_000_000_000, pieces: 3, chunkSize: 1 },
  ];
  for (const { workers, pieces, chunkSize } of cases) {
    const visits = new Array<number>(pieces).fill(0);
    const work = (piece: number) => Promise.resolve().then(() => void visits[piece]!++);
    await parallelizeUntil(workers, pieces, work, { chunkSize });
    assertEquals(visits, new Array(pieces).fill(1), JSON.stringify({ workers, pieces, chunkSize }));
  }
});

Deno.test("without pieces, it resolves at once", async () => {
  await parallelizeUntil(3, 0, () => {
    throw new Error("there is no piece");
  });
});

Deno.test("a piece may be processed synchronously", async () => {
  const seen: number[] = [];
  await parallelizeUntil(2, 6, (piece) => void seen.push(piece));
  assertEquals(seen.toSorted(), [0, 1, 2, 3, 4, 5]);
});

Deno.test("as many pieces as workers are processed at once, and the next one begins when one ends", async () => {
  const pieces = new Pieces();
  const all = parallelizeUntil(2, 4, pieces.work);
  await flush();
  assertEquals(pieces.begun, [0, 1]);
  await pieces.end(1);
  assertEquals(pieces.begun, [0, 1, 2]);
  await pieces.end(2);
  assertEquals(pieces.begun, [0, 1, 2, 3]);
  await pieces.end(0);
  await pieces.end(3);
  await all;
});

Deno.test("a worker takes a chunk of neighboring pieces, one after the other", async () => {
  const pieces = new Pieces();
  const all = parallelizeUntil(2, 5, pieces.work, { chunkSize: 2 });
  await flush();
  assertEquals(pieces.begun, [0, 2]);
  await pieces.end(0);
  assertEquals(pieces.begun, [0, 2, 1]);
  await pieces.end(1);
  assertEquals(pieces.begun, [0, 2, 1, 4]);
  await pieces.end(4);
  await pieces.end(2);
  await pieces.end(3);
  await all;
  assertEquals(pieces.begun, [0, 2, 1, 4, 3]);
});

Deno.test("after an abort, no piece begins, not even in a chunk, and running pieces are waited for", async () => {
  const stop = new AbortController();
  const pieces = new Pieces();
  let isDone = false;
  const all = parallelizeUntil(2, 100, pieces.work, { signal: stop.signal, chunkSize: 10 }).then(() => isDone = true);
  await flush();
  stop.abort(new Error("enough"));
  await pieces.end(0);
  assert(!isDone);
  await pieces.end(10);
  await all;
  assertEquals(pieces.begun, [0, 10]);
});

Deno.test("with a signal that has already aborted, nothing begins", async () => {
  const pieces = new Pieces();
  await parallelizeUntil(2, 10, pieces.work, { signal: AbortSignal.abort() });
  assertEquals(pieces.begun, []);
});

Deno.test("after a piece fails, no piece begins, running pieces are waited for, and the first error is thrown", async () => {
  const pieces = new Pieces();
  const first = new Error("first");
  let failure: unknown;
  const all = parallelizeUntil(3, 100, pieces.work, { chunkSize: 2 }).catch((error) => failure = error);
  await flush();
  await pieces.fail(2, first);
  await pieces.fail(0, new Error("second"));
  assertEquals(failure, undefined);
  await pieces.end(4);
  await all;
  assertStrictEquals(failure, first);
  assertEquals(pieces.begun, [0, 2, 4]);
});

Deno.test("a piece may fail synchronously, with any value", async () => {
  let begun = 0;
  const failure = await parallelizeUntil(1, 3, () => {
    begun++;
    throw undefined;
  }).then(() => "done", (error) => error);
  assertEquals(failure, undefined);
  assertEquals(begun, 1);
});

Deno.test("invalid arguments are refused before anything begins, with the argument, the rule and the value", async () => {
  type Arguments = [workers: unknown, pieces: unknown, chunkSize?: unknown];
  const cases: [args: Arguments, ErrorClass: typeof RangeError | typeof TypeError, rest: string][] = [
    [[0, 1], RangeError, "'workers' must be a positive integer, got 0"],
    [[-1, 1], RangeError, "'workers' must be a positive integer, got -1"],
    [[1.5, 1], RangeError, "'workers' must be a positive integer, got 1.5"],
    [[NaN, 1], RangeError, "'workers' must be a positive integer, got NaN"],
    [[Infinity, 1], RangeError, "'workers' must be a positive integer, got Infinity"],
    [["2", 1], TypeError, `'workers' must be a positive integer, got "2"`],
    [[undefined, 1], TypeError, "'workers' must be a positive integer, got undefined"],
    [[1, -1], RangeError, "'pieces' must be a non-negative integer, got -1"],
    [[1, 0.5], RangeError, "'pieces' must be a non-negative integer, got 0.5"],
    [[1, Infinity], RangeError, "'pieces' must be a non-negative integer, got Infinity"],
    [[1, null], TypeError, "'pieces' must be a non-negative integer, got null"],
    [[1, 1, 0], RangeError, "'chunkSize' must be a positive integer, got 0"],
    [[1, 1, 2.5], RangeError, "'chunkSize' must be a positive integer, got 2.5"],
    [[1, 1, "3"], TypeError, `'chunkSize' must be a positive integer, got "3"`],
  ];
  let begun = 0;
  for (const [[workers, pieces, chunkSize = 1], ErrorClass, rest] of cases) {
    const call = () =>
      parallelizeUntil(workers as number, pieces as number, () => void begun++, { chunkSize: chunkSize as number });
    const { message } = await assertRejects(call, ErrorClass);
    assertEquals(message, `Cannot parallelize: ${rest}`);
  }
  const { message: noFunction } = await assertRejects(() => parallelizeUntil(1, 0, "work" as never), TypeError);
  assertEquals(noFunction, `Cannot parallelize: 'doWorkPiece' must be a function, got "work"`);
  const unusable: [options: unknown, rest: string][] = [
    [{ chunksize: 2 }, `"chunksize" is not an option here; did you mean "chunkSize"?`],
    [{ signal: "stop" }, `'signal' must be an AbortSignal, got "stop"`],
    [null, "'options' must be an object, got null"],
    [AbortSignal.abort(), "'options' must be an object, got an object"],
  ];
  for (const [options, rest] of unusable) {
    const { message } = await assertRejects(
      () => parallelizeUntil(1, 1, () => void begun++, options as never),
      TypeError,
    );
    assertEquals(message, `Cannot parallelize: ${rest}`);
  }
  assertEquals(begun, 0);
});
