import { assert, assertEquals } from "@std/assert";
import { LiveRows } from "../../packages/cli/view/live_rows.ts";
import { Screen } from "./screen.ts";

// deno-lint-ignore no-control-regex -- control characters control terminals
const ERASED_FROM_START = /(^|[\r\n])(\x1b\[K)?\x1b\[J/;
const SIZE = { columns: 20, rows: 6 };

Deno.test("live rows: they are overwritten in place, and fewer rows leave none of the earlier ones", async () => {
  const screen = new Screen(SIZE.columns, SIZE.rows);
  const live = new LiveRows();
  const shows = async (rows: string[], output = "") => {
    const [before, after] = live.change(rows, SIZE, output !== "")!;
    await screen.write((before + output + after).replaceAll("\n", "\r\n"));
    return screen.lines;
  };
  assertEquals(await shows(["a long row", "another"]), ["a long row", "another"]);
  assertEquals(await shows(["short", "one", "more"]), ["short", "one", "more"]);
  assertEquals(await shows(["fewer"]), ["fewer"]);
  assertEquals(await shows(["fewer"], "output\n"), ["output", "fewer"]);
  const output = Array.from({ length: 10 }, (_, i) => `line ${i}`);
  assertEquals(await shows(["x", "y"], output.map((line) => `${line}\n`).join("")), ["output", ...output, "x", "y"]);
  assertEquals(await shows([]), ["output", ...output]);
});

Deno.test("live rows: a row that is wider than it seems takes one line", async () => {
  const screen = new Screen(SIZE.columns, SIZE.rows);
  const live = new LiveRows();
  for (const row of ["x".repeat(30), "y"]) {
    const [before, after] = live.change([row, "second"], SIZE, false)!;
    await screen.write((before + after).replaceAll("\n", "\r\n"));
  }
  assertEquals(screen.lines, ["y", "second"]);
});

Deno.test("live rows: unchanged rows are not written, unless the terminal may have lost them", () => {
  const live = new LiveRows();
  assert(live.change(["a", "b"], SIZE, false) !== undefined);
  assertEquals(live.change(["a", "b"], SIZE, false), undefined);
  assert(live.change(["a", "b"], SIZE, true) !== undefined);
  assert(live.change(["a", "b"], { columns: 20, rows: 5 }, false) !== undefined);
  assert(live.change(["a"], { columns: 20, rows: 5 }, false) !== undefined);
  assertEquals(live.change(["a"], { columns: 20, rows: 5 }, false), undefined);
});

Deno.test("live rows: rows that a terminal may have wrapped are erased, because it remembers the wrap", () => {
  const live = new LiveRows();
  live.change(["a", "b"], SIZE, false);
  assert(!live.change(["a", "c"], SIZE, false)![0].includes("\x1b[J"));
  assert(live.change(["a", "c"], { columns: 10, rows: 6 }, false)![0].includes("\x1b[J"));
});

Deno.test("live rows: tmux does not treat them as a cleared screen, which it would keep", () => {
  const live = new LiveRows();
  for (const [rows, hasOutput] of [[["a", "b"], true], [["a"], false], [[], false]] as const) {
    for (const text of live.change(rows, SIZE, hasOutput)!) assert(!ERASED_FROM_START.test(text));
  }
});
