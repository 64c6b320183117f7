/** Tests of input lines: refused lines, folded lines and reading ahead. */

import { assertEquals, assertLess, assertMatch, assertStringIncludes } from "@std/assert";
import { runtimes, until, WITH_PID, Workspace } from "./cli.ts";

const encode = (text: string) => [...new TextEncoder().encode(text)];

for (const runtime of Object.keys(runtimes)) {
  Deno.test(`input, ${runtime}: lines that are not UTF-8 are refused by number, and the others are processed`, async () => {
    await using workspace = new Workspace(runtime);
    const lines = [encode("ok"), [0xff], encode("\uFFFD"), [], [0x61, 0xfe, 0x62], encode("naïve"), [0xed, 0xa0, 0x80]];
    const input = Uint8Array.from(lines.flatMap((line) => [...line, 0x0a]));
    const args = ["run", "--concurrency", "1", "--report", "report.jsonl", "--", "echo", "{}"];
    const { code, stdout, stderr } = await workspace.run(args, input);
    assertEquals([code, stdout], [1, "ok\n\uFFFD\nnaïve\n"]);
    assertMatch(stderr, /^Distinct items +3\nLines refused +3\nSucceeded +3$/m);
    assertStringIncludes(stderr, "\nRefused (not UTF-8): lines 2, 5, 7\n");
    assertEquals(workspace.report().map(({ item }) => item), ["naïve", "ok", "\uFFFD"]);
  });

  Deno.test(`input, ${runtime}: an input without a single line of UTF-8 is not a success`, async () => {
    await using workspace = new Workspace(runtime);
    const { code, stderr } = await workspace.run(
      ["run", "--", "echo", "{}"],
      Uint8Array.from([0xff, 0xfe, 0x0a, 0x80]),
    );
    assertEquals(code, 1);
    assertStringIncludes(stderr, "Refused (not UTF-8): lines 1, 2\n");
  });

  Deno.test(`input, ${runtime}: with --no-dedupe, equal lines run at the same time, and each is reported`, async () => {
    await using workspace = new Workspace(runtime);
    // Each child waits until all three are running.
    const script = 'touch "began $$"; until [ $(ls | grep -c began) = 3 ]; do sleep 0.02; done; echo "$1"';
    const { code, stdout, stderr } = await workspace.run(
      ["run", "--no-dedupe", "--concurrency", "3", "--report", "report.jsonl", "--", "sh", "-c", script, "sh", "{}"],
      "same\nsame\nsame\n",
    );
    assertEquals([code, stdout], [0, "same\nsame\nsame\n"]);
    assertMatch(stderr, /^Items +3\nSucceeded +3$/m);
    assertEquals(workspace.report().map(({ item, attempts }) => [item, attempts]), Array(3).fill(["same", 1]));
  });

  Deno.test(`input, ${runtime}: with --no-dedupe, each of several equal lines has its own attempts`, async () => {
    await using workspace = new Workspace(runtime);
    const limiter = { type: "exponential", baseDelay: "1ms", maxDelay: "1ms" };
    workspace.write("config.json", JSON.stringify({ queues: { q: { limiter, maxRetries: 2 } } }));
    const { code } = await workspace.run(
      ["run", "--no-dedupe", "--config", "config.json", "--report", "report.jsonl", "--", "false"],
      "same\nsame\n",
    );
    assertEquals(code, 1);
    assertEquals(workspace.report().map(({ outcome, attempts }) => [outcome, attempts]), [["given-up", 3], [
      "given-up",
      3,
    ]]);
  });

  Deno.test(`input, ${runtime}: with --no-dedupe, little of an endless input is read ahead, and it can be interrupted`, async () => {
    await using workspace = new Workspace(runtime);
    const script = "until [ -e go ]; do sleep 0.02; done";
    const cli = await workspace.start(
      ["run", "--no-dedupe", "--concurrency", "2", "--", "sh", "-c", script],
      "",
      `yes | ${WITH_PID}`,
    );
    await until(() => cli.stderr.includes("2 running"), "there is a line");
    const [, items] = cli.stderr.match(/^0 of (\d+)\+ done/)!;
    assertLess(Number(items), 100_000);
    Deno.kill(Number(workspace.read("pid")), "SIGINT");
    await until(() => cli.stderr.includes("Interrupted"), "it says so");
    workspace.write("go", "");
    const { code, stderr } = await cli.ended;
    assertEquals(code, 130);
    assertMatch(stderr, /^Succeeded +2$/m);
  });
}

Deno.test("input: a line that is too long for any command is left out, and the others are run", async () => {
  await using workspace = new Workspace();
  const input = `a\n${"x".repeat(17 << 20)}\nb\n`;
  const { code, stdout, stderr } = await workspace.run(["run", "--concurrency", "1", "--", "echo"], input);
  assertEquals([code, stdout], [1, "a\nb\n"]);
  assertStringIncludes(stderr, "Refused (longer than 16 MiB): line 2\n");
});

Deno.test("input: only spaces and tabs count as blank, not other white space", async () => {
  await using workspace = new Workspace();
  const { stdout } = await workspace.run(["run", "--concurrency", "1", "--", "echo"], " \t\n\u00a0\n\u3000\n");
  assertEquals(stdout, "\u00a0\n\u3000\n");
});

for (const runtime of Object.keys(runtimes)) {
  Deno.test(`input, ${runtime}: a JSON object that is nested too deeply is refused, and the others are items`, async () => {
    await using workspace = new Workspace(runtime);
    const depth = 100_000;
    const deep = `{"id":2,"a":${"[".repeat(depth)}${"]".repeat(depth)}}`;
    const args = ["run", "--json", "--concurrency", "1", "--", "echo", "{id}"];
    const { code, stdout, stderr } = await workspace.run(args, `{"id":1}\n${deep}\n{"id":3}\n`);
    assertEquals([code, stdout], [1, "1\n3\n"]);
    assertStringIncludes(stderr, "Refused (not a JSON object): line 2\n");
  });
}
