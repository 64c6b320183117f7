import { assert, assertEquals, assertMatch } from "@std/assert";
import { type Progress, showProgress } from "../../packages/cli/view/progress.ts";
import type { Tally } from "../../packages/cli/run/tally.ts";
import { quickConfig, until, Workspace } from "./cli.ts";

const TALLY: Tally = {
  items: 120,
  isDistinct: true,
  folded: 3,
  refused: 0,
  doneBefore: 0,
  isReading: false,
  partRead: undefined,
  inFlight: 4,
  waiting: 76,
  failing: 5,
  succeeded: 38,
  givenUp: 2,
  retries: 9,
  lastFailure: undefined,
  nextDueIn: undefined,
  hasBegun: true,
  seconds: 10,
};
const LINE = "40 of 120 done, 4 in flight, 76 waiting, 5 failing, 9 retried, 2 given up, 4.0 items/s, 20.0 s left";

/** A terminal of 120 columns that understands what is needed to change a line: what it shows is `rows`. */
class Terminal {
  rows: string[] = [""];
  #row = 0;
  readonly stream = {
    isTTY: true,
    columns: 120,
    rows: 40,
    write: (data: string | Uint8Array, callback?: () => void) => {
      this.#print(typeof data === "string" ? data : new TextDecoder().decode(data));
      callback?.();
      return true;
    },
  } as unknown as Parameters<typeof showProgress>[1];

  #print(text: string): void {
    // deno-lint-ignore no-control-regex -- that is what terminals are controlled by
    for (const [token, count = "1", command] of text.matchAll(/\x1b\[\??(\d*)([A-Za-z])|[^\x1b]/g)) {
      if (command === "A") this.#row -= Number(count || 1);
      else if (command === "K") this.rows[this.#row] = "";
      else if (command !== undefined) assert("Ghl".includes(command), `unknown command ${command}`);
      else if (token !== "\n") this.rows[this.#row] += token;
      else if (++this.#row === this.rows.length) this.rows.push("");
    }
  }
}

/** Ends the progress in any case: its timer would go on. */
async function withProgress(terminal: Terminal, test: (progress: Progress) => Promise<void>): Promise<void> {
  const progress = showProgress(() => TALLY, terminal.stream, terminal.stream);
  try {
    await test(progress);
  } finally {
    progress.end();
  }
}

Deno.test("progress: on a terminal, one line shows how far the run has come, and leaves no trace", async () => {
  const terminal = new Terminal();
  await withProgress(terminal, () => until(() => terminal.rows.join("\n") === `${LINE}\n`, "the line is there"));
  assertEquals(terminal.rows.join("\n").trimEnd(), "");
});

Deno.test("progress: on a terminal, what children print is above the line, and whole", async () => {
  const terminal = new Terminal();
  const encode = (text: string) => new TextEncoder().encode(text);
  await withProgress(terminal, async (progress) => {
    await until(() => terminal.rows[0] === LINE, "the line is there");
    await progress.write(encode("one\ntwo\n"));
    assertEquals(terminal.rows, ["one", "two", LINE, ""]);
    await progress.write(encode("no line feed"));
    progress.note("a note");
    assertEquals(terminal.rows, ["one", "two", "no line feed", "a note", LINE, ""]);
  });
  assertEquals(terminal.rows.slice(0, 5), ["one", "two", "no line feed", "a note", ""]);
});

Deno.test("progress: lines that were refused are counted", async () => {
  const terminal = new Terminal();
  const progress = showProgress(() => ({ ...TALLY, refused: 3 }), terminal.stream, terminal.stream);
  try {
    await until(() => terminal.rows[0]!.includes(", 2 given up, 3 refused, 4.0 items/s"), "the line is there");
  } finally {
    progress.end();
  }
});

Deno.test("progress: an item that has failed is shown before it is tried again", async () => {
  await using workspace = new Workspace();
  const limiter = { type: "exponential", baseDelay: "1h", maxDelay: "1h" };
  workspace.write("config.json", JSON.stringify({ queues: { slow: { limiter } } }));
  const script = '[ "$1" != bad ] || exit 1; until [ -e go ]; do sleep 0.02; done';
  const args = ["--config", "config.json", "--concurrency", "1", "--", "sh", "-c", script, "sh", "{}"];
  const cli = await workspace.start(["run", ...args], "bad\ngood\n");
  await until(() => cli.stderr.includes("\n"), "there is a line");
  assertMatch(cli.stderr, /^0 of 2 done, 1 in flight, 1 waiting, 1 failing, 0 retried, 0 given up, /);
  cli.kill("SIGINT");
  workspace.write("go", "");
  await cli.ended;
});

Deno.test("progress: where there is no terminal, a line comes now and then, and none at the start", async () => {
  await using workspace = new Workspace();
  workspace.write("config.json", quickConfig());
  const quick = await workspace.run(["run", "--", "true"], "a\n");
  assert(!quick.stderr.includes("in flight"));

  const script = "until [ -e go ]; do sleep 0.02; done";
  const cli = await workspace.start(["run", "--concurrency", "2", "--", "sh", "-c", script], "a\nb\nc\na\n");
  await until(() => cli.stderr.includes("\n"), "there is a line");
  assertMatch(
    cli.stderr,
    /^0 of 3 done, 2 in flight, 1 waiting, 0 failing, 0 retried, 0 given up, 0\.0 items\/s, \? left\n$/,
  );
  workspace.write("go", "");
  assertEquals((await cli.ended).code, 0);
});
