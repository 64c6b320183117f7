/** Tests of `ErrorOutput`, which the core and the packages use to write errors to the console. */

import { assertEquals } from "@std/assert";
import { ErrorOutput } from "@workqueue/core/internal";

/** `ErrorOutput` with a clock that the test sets, and the lines that the output has written. */
class Bench implements Disposable {
  time = 0;
  readonly lines: unknown[][] = [];
  readonly output = new ErrorOutput(() => this.time);
  readonly #error = console.error;

  constructor() {
    console.error = (...words: unknown[]) => this.lines.push(words);
  }

  write(text: string): void {
    this.output.write(() => text);
  }

  [Symbol.dispose](): void {
    console.error = this.#error;
  }
}

Deno.test("error output: a text is one line that can't control a terminal or reverse the text around it", () => {
  using bench = new Bench();
  bench.write("two\r\nlines, \u001b[31mred\u009b0m, \u202eturned\u2028 and a \u0000");
  assertEquals(bench.lines, [["two lines,  [31mred 0m,  turned  and a  "]]);
});

Deno.test("error output: at most one line a second, with the number of omitted ones", () => {
  using bench = new Bench();
  for (const text of ["a", "b", "c"]) bench.write(text);
  bench.time = 999;
  bench.write("d");
  bench.time = 1000;
  bench.write("e");
  bench.time = 2000;
  for (const text of ["f", "g"]) bench.write(text);
  bench.time = 3000;
  bench.write("h");
  bench.time = 0;
  bench.write("i"); // output continues when the clock is set back
  assertEquals(bench.lines.flat(), ["a", "e (3 earlier errors omitted)", "f", "h (1 earlier error omitted)", "i"]);
});

Deno.test("error output: an omitted error is not described", () => {
  using bench = new Bench();
  let described = 0;
  for (let i = 0; i < 3; i++) bench.output.write(() => `${++described}`);
  assertEquals([described, bench.lines.flat()], [1, ["1"]]);
});
