import { assert, assertEquals, assertRejects } from "@std/assert";
import { FakeTime } from "@std/testing/time";
import { LiveProgress } from "../../packages/cli/view/live_progress.ts";
import type { Tally } from "../../packages/cli/run/tally.ts";
import type { OutputStream } from "../../packages/cli/system/standard_streams.ts";
import { Screen } from "./screen.ts";
import { tallyOf } from "./tallies.ts";

const FRAME = 100;
const ROWS = ["", "████████████░░░░░░░░  61 %    612 of 1,000 · 8 running · 61.2/s · 7 s left"];

/** Stream that records all writes. */
class FakeStream implements OutputStream {
  readonly writes: string[] = [];
  columns = 80;
  rows = 24;
  /** Whether the stream currently accepts no data. */
  isStuck = false;
  error: unknown = undefined;
  readonly #callbacks: (() => void)[] = [];

  constructor(readonly isTTY = true) {}

  write(data: string | Uint8Array, callback: (error?: unknown) => void = () => {}): boolean {
    this.writes.push(typeof data === "string" ? data : new TextDecoder().decode(data));
    if (this.isStuck) this.#callbacks.push(callback);
    else callback(this.error);
    return true;
  }

  goOn(): void {
    this.isStuck = false;
    for (const callback of this.#callbacks.splice(0)) callback();
  }

  /** Returns the lines that are visible after `writes` writes. */
  async linesAfter(writes: number): Promise<string[]> {
    const screen = new Screen(this.columns, this.rows);
    // On a real terminal, the operating system converts line feeds in the same way.
    for (const data of this.writes.slice(0, writes)) await screen.write(data.replaceAll("\n", "\r\n"));
    return screen.lines;
  }
}

/** Runs a test under fake time. A screen works only in real time, so a test can examine the screen only afterwards. */
async function withProgress(
  test: (progress: LiveProgress, time: FakeTime, terminal: FakeStream) => Promise<void> | void,
  { tally = () => tallyOf(), stdout }: { tally?: () => Tally; stdout?: OutputStream } = {},
): Promise<FakeStream> {
  const terminal = new FakeStream();
  using time = new FakeTime();
  const progress = new LiveProgress(tally, stdout ?? terminal, terminal, false);
  try {
    await test(progress, time, terminal);
  } finally {
    progress.end();
  }
  return terminal;
}

const encode = (text: string) => new TextEncoder().encode(text);

Deno.test("live progress: the rows are visible during the run, and leave no trace", async () => {
  const terminal = await withProgress((_progress, time) => time.tick(FRAME));
  assertEquals(await terminal.linesAfter(1), ROWS);
  assertEquals(await terminal.linesAfter(2), []);
});

Deno.test("live progress: unchanged text is not written again", async () => {
  let seconds = 1;
  await withProgress(async (_progress, time, terminal) => {
    for (let i = 0; i < 30; i++) await time.tickAsync(FRAME);
    assertEquals(terminal.writes.length, 1);
    terminal.rows = 10; // if the terminal was resized, rows may have been cut off
    await time.tickAsync(FRAME);
    assertEquals(terminal.writes.length, 2);
    seconds = 2;
    await time.tickAsync(FRAME);
    assertEquals(terminal.writes.length, 3);
  }, { tally: () => tallyOf({ seconds }) });
});

Deno.test("live progress: output, errors and notes are printed above the rows, whole and in order", async () => {
  const marks: number[] = [];
  const terminal = await withProgress(async (progress, time, { writes }) => {
    time.tick(FRAME);
    await progress.write(encode("one\ntwo\n"));
    await progress.writeError("a", encode("three\nfour\n"));
    await progress.write(encode("no line feed"));
    time.tick(FRAME);
    marks.push(writes.length);
    progress.note("a note");
    marks.push(writes.length);
    await progress.write(encode("not shown yet\n"));
  });
  const above = ["one", "two", "a | three", "a | four", "no line feed"];
  assertEquals(await terminal.linesAfter(marks[0]!), [...above, ...ROWS]);
  assertEquals(await terminal.linesAfter(marks[1]!), [...above, "a note", ...ROWS]); // shown immediately
  assertEquals(await terminal.linesAfter(Infinity), [...above, "a note", "not shown yet"]);
});

Deno.test("live progress: however much is printed, there is one write per frame", async () => {
  const expected = Array.from({ length: 2000 }, (_, i) => `line ${i}`);
  const terminal = await withProgress(async (progress, time, terminal) => {
    for (const [i, line] of expected.entries()) {
      await progress.write(encode(line + "\n"));
      if (i % 200 === 199) time.tick(FRAME);
    }
    assertEquals(terminal.writes.length, 10);
  });
  assertEquals(await terminal.linesAfter(10), [...expected, ...ROWS]);
  assertEquals(await terminal.linesAfter(11), expected);
});

Deno.test("live progress: a large amount of text is written without waiting for the frame", async () => {
  await withProgress(async (progress, _time, terminal) => {
    await progress.write(encode("x\n".repeat(40_000)));
    assertEquals(terminal.writes.length, 1);
  });
});

Deno.test("live progress: a writer waits for a terminal that accepts no data", async () => {
  const expected: string[] = [];
  const terminal = await withProgress(async (progress, time, terminal) => {
    terminal.isStuck = true;
    let printed = 0;
    const print = async () => {
      for (let i = 0; i < 100; i++, printed++) {
        expected.push(`${i} `.padEnd(9999, "x"));
        await progress.write(encode(expected.at(-1) + "\n"));
      }
    };
    const printing = print();
    for (let i = 0; i < 50; i++) await time.tickAsync(FRAME);
    assert(printed < 20, `${printed} were printed`);
    assert(terminal.writes.length <= 2); // no data piles up in the stream
    terminal.goOn();
    await printing;
  });
  terminal.columns = 20_000;
  assertEquals((await terminal.linesAfter(Infinity)).length, expected.length);
  assertEquals(await terminal.linesAfter(Infinity), expected);
});

Deno.test("live progress: a writer is told when the terminal is closed", async () => {
  await withProgress(async (progress, time, terminal) => {
    terminal.error = new Error("gone");
    await progress.write(encode("one\n"));
    time.tick(FRAME);
    await time.runMicrotasks();
    await assertRejects(() => progress.write(encode("two\n")), Error, "gone");
    await assertRejects(() => progress.writeError("a", encode("two\n")), Error, "gone");
  });
});

Deno.test("live progress: text after the end is written at once", async () => {
  let ended!: LiveProgress;
  const terminal = await withProgress((progress) => void (ended = progress));
  await ended.write(encode("late\n"));
  assertEquals(await terminal.linesAfter(Infinity), ["late"]);
});

Deno.test("live progress: output that goes elsewhere is passed on unchanged, at once", async () => {
  const stdout = new FakeStream(false);
  const terminal = await withProgress(async (progress) => {
    await progress.write(encode("one\n"));
    await progress.write(encode("no line feed"));
    await progress.writeError("a", encode("an error\n"));
  }, { stdout });
  assertEquals(stdout.writes, ["one\n", "no line feed"]);
  assertEquals(await terminal.linesAfter(Infinity), ["a | an error"]);
});

Deno.test("live progress: two names of one terminal are written in order", async () => {
  const both: string[] = [];
  const terminal = new FakeStream();
  const stdout = new FakeStream();
  for (const stream of [terminal, stdout]) {
    const { write } = stream;
    stream.write = (data, callback) => {
      write.call(stream, data, callback);
      both.push(stream.writes.at(-1)!);
      return true;
    };
  }
  {
    using time = new FakeTime();
    const progress = new LiveProgress(() => tallyOf(), stdout, terminal, false);
    await time.tickAsync(FRAME);
    await progress.write(encode("one\n"));
    await time.tickAsync(FRAME);
    progress.end();
  }
  assertEquals(stdout.writes, ["one\n"]);
  terminal.writes.splice(0, Infinity, ...both.slice(0, -1));
  assertEquals(await terminal.linesAfter(Infinity), ["one", ...ROWS]);
});

Deno.test("live progress: a terminal without a size, or a tiny one, gets no row beyond its size", async () => {
  for (const [columns, rows] of [[0, 0], [1, 1], [20, 3], [20, 2]] as const) {
    const terminal = await withProgress(async (progress, time, terminal) => {
      Object.assign(terminal, { columns, rows });
      await progress.write(encode("a\nb\n"));
      await time.tickAsync(FRAME);
    });
    Object.assign(terminal, { columns: columns || 80, rows: rows || 24 });
    const [a, b, ...shown] = await terminal.linesAfter(1);
    assertEquals([a, b], ["a", "b"]);
    assert(shown.length > 0 && shown.length <= Math.max(1, terminal.rows - 1), `${shown.length} rows`);
    assertEquals(await terminal.linesAfter(2), ["a", "b"]);
  }
});
