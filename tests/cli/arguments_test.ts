/** Tests of what `workqueue run` takes over from the command lines of xargs and GNU parallel. */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { FOREIGN_OPTIONS } from "../../packages/cli/commands/foreign_options.ts";
import { type FlagDeclaration, RUN_FLAGS } from "../../packages/cli/commands/run_flags.ts";
import { quoteAll } from "../../packages/cli/system/text.ts";
import { runtimes, someRuntimes, until, Workspace } from "./cli.ts";
import { hasGnuParallel } from "../program.ts";

const ONE = ["run", "--concurrency", "1"];

for (const runtime of Object.keys(someRuntimes)) {
  Deno.test(`arguments, ${runtime}: the arguments after ::: are the items, unchanged`, async () => {
    await using workspace = new Workspace(runtime);
    const items = ["b", "a c", "-x", "", "two\nlines", " ", "é", "b", "--", "{}"];
    const stdout = "<b>\n<a c>\n<-x>\n<two\nlines>\n< >\n<é>\n<-->\n<{}>\n";
    for (const args of [["--", "printf", "<%s>\\n"], ["printf", "<%s>\\n"], ["printf", "<%s>\\n", "{}"]]) {
      const result = await workspace.run([...ONE, ...args, ":::", ...items], "not read\n");
      assertEquals([result.code, result.stdout], [0, stdout], result.stderr);
    }
  });

  Deno.test(`arguments, ${runtime}: an argument that is not UTF-8 is refused, and the others are processed`, async () => {
    await using workspace = new Workspace(runtime);
    // If the characters of the item were cut to their last byte, "Ā" would become NUL, and "c" an item of its own.
    const script = `exec "$@" "$(printf '\\377Āc')" b`;
    const { code, stdout, stderr } = await workspace.run([...ONE, "echo", ":::", "a"], "", script);
    assertEquals([code, stdout], [1, "a\nb\n"]);
    assertStringIncludes(stderr, "Refused (not UTF-8): line 2\n");
  });
}

for (const runtime of Object.keys(runtimes)) {
  Deno.test({
    name:
      `arguments, ${runtime}: a command that is not UTF-8 is refused, and a replacement character is an ordinary item`,
    ignore: Deno.build.os !== "linux", // other systems don't tell the bytes of an argument
    fn: async () => {
      await using workspace = new Workspace(runtime);
      const run = (script: string) => workspace.run([...ONE, "echo"], "", `exec "$@" ${script}`);
      const { code, stdout, stderr } = await run(`"$(printf 'caf\\351')" ::: a`);
      const message = "workqueue: Cannot run the command: its argument 'caf\uFFFD' is not UTF-8\n";
      assertEquals([code, stdout, stderr], [2, "", message]);
      const items = await run("'\uFFFD' ::: 'b\uFFFD'");
      assertEquals([items.code, items.stdout], [0, "\uFFFD b\uFFFD\n"], items.stderr);
    },
  });
}

Deno.test("arguments: without an item after :::, nothing is run and nothing is read", async () => {
  await using workspace = new Workspace();
  const { code, stdout, stderr } = await workspace.run(["run", "echo", ":::"], "not read\n");
  assertEquals([code, stdout], [0, ""]);
  assertStringIncludes(stderr, "Distinct items     0\n");
});

Deno.test("arguments: a run with items on the command line can be resumed, with items on the command line or in the input", async () => {
  await using workspace = new Workspace();
  const args = ["run", "--retries", "0", "--resume", "report.jsonl"];
  const command = ["sh", "-c", 'echo "$1" >> done; [ "$1" != "$(cat bad)" ]', "sh", "{}"];
  workspace.write("bad", "b c");
  assertEquals((await workspace.run([...args, "-j1", "--", ...command, ":::", "a", "b c"])).code, 1);
  workspace.write("bad", "d");
  assertEquals((await workspace.run([...args, "-j1", "--", ...command, ":::", "a", "b c", "d"])).code, 1);
  workspace.write("bad", "");
  assertEquals((await workspace.run([...args, "-j1", "--", ...command], "d\na\ne\n")).code, 0);
  assertEquals(workspace.read("done"), "a\nb c\nb c\nd\nd\ne\n");
  const [header] = workspace.read("report.jsonl").split("\n");
  assertEquals(JSON.parse(header!).command, command, "the items are no part of the command");
});

Deno.test("arguments: with --json, each item after ::: is an object", async () => {
  await using workspace = new Workspace();
  const items = ['{"id":1}', '{"id": 2}', "3"];
  const { code, stdout, stderr } = await workspace.run([...ONE, "--json", "echo", "{id}", ":::", ...items]);
  assertEquals([code, stdout], [1, "1\n2\n"]);
  assertStringIncludes(stderr, "Refused (not a JSON object): line 3\n");
});

Deno.test("arguments: --dry-run prints the commands for the items after :::", async () => {
  await using workspace = new Workspace();
  const args = ["run", "--dry-run", "--", "gzip", "{}", "{%}", ":::", "a b", "c"];
  assertEquals((await workspace.run(args)).stdout, "gzip 'a b' 1\ngzip c 1\n");
});

for (const runtime of Object.keys(someRuntimes)) {
  Deno.test(`arguments, ${runtime}: with -I, another text stands for the item, and {} is ordinary text`, async () => {
    await using workspace = new Workspace(runtime);
    const run = async (args: string[], item = "music/a.tar.gz") => {
      const { code, stdout, stderr } = await workspace.run([...ONE, ...args], `${item}\n`);
      assertEquals(code, 0, stderr);
      return stdout;
    };
    assertEquals(await run(["-I", ",,", "--", "echo", "{}", "{.}", "x,,y"]), "{} {.} xmusic/a.tar.gzy\n");
    for (const option of [["-I", "%"], ["-I%"], ["--replace", "%"], ["--replace=%"]]) {
      assertEquals(await run([...option, "--", "echo", "%", "{}"]), "music/a.tar.gz {}\n");
    }
    const forms = ["@", "@.", "@/", "@//", "@/.", "@#", "@%", "@..mp3", "to/@/."];
    assertEquals(
      await run(["-I@", "--", "echo", ...forms]),
      "music/a.tar.gz music/a.tar a.tar.gz music a.tar 1 1 music/a.tar.mp3 to/a.tar\n",
    );
    // The text may stand before a path or an extension, as with xargs.
    const paths = ["@.bak", "@/file", "@//file", "@/.hidden", "@/*", "@#1", "@x"];
    assertEquals(
      await run(["-I@", "--", "echo", ...paths], "a.d"),
      paths.map((x) => `a.d${x.slice(1)}`).join(" ") + "\n",
    );
    assertEquals(await run(["-I.*", "--", "echo", ".*", "ab"], "a"), "a ab\n");
    assertEquals(await run(["-I{}", "--", "echo", "{}", "{.}", "{}.bak"], "a.d"), "a.d a a.d.bak\n");
    assertEquals(await run(["-I@", "--", "echo", "{}"], "a"), "{} a\n", "appended without a placeholder");
    assertEquals(await run(["-I@", "--no-append", "--", "echo", "{}"], "a"), "{}\n");
  });
}

Deno.test("arguments: -I is refused together with field names, and is recorded in a report", async () => {
  await using workspace = new Workspace();
  const { code, stderr } = await workspace.run(["run", "-I", "@", "--json", "--", "echo", "@"], "{}\n");
  assertEquals([code, stderr], [
    2,
    "workqueue: Cannot use -I with --json or --colsep, whose placeholders are names in braces; leave out one of them\n",
  ]);
  const empty = await workspace.run(["run", "-I", "", "--", "echo"], "a\n");
  assertEquals(empty.code, 2);
  assertStringIncludes(empty.stderr, "It must not be empty.");
  const resume = ["run", "--resume", "report.jsonl"];
  await workspace.run([...resume, "-I", "@", "--", "echo", "@"], "a\n");
  assertEquals((await workspace.run([...resume, "-I", "@", "--", "echo", "@"], "a\n")).code, 0);
  assertEquals((await workspace.run([...resume, "--", "echo", "@"], "a\n")).code, 2);
});

Deno.test("arguments: a placeholder in a script or after -exec is replaced, with a warning that says what to write", async () => {
  await using workspace = new Workspace();
  const warnings = async (...args: string[]) => {
    const { code, stderr } = await workspace.run([...ONE, "--quiet", ...args], "a\n");
    assertEquals(code, 0, stderr);
    return stderr;
  };
  const script = "workqueue: Warning: {} in the script after -c: text of the item can run as code; " +
    "write sh -c '… \"$1\"' sh {}\n";
  const exec = "workqueue: Warning: {} after -exec is the item, not a file that find has found; " +
    "choose another placeholder, such as -I ,,\n";
  assertEquals(await warnings("--", "sh", "-c", "echo {} >&1"), script);
  assertEquals(await warnings("--", "env", "/bin/bash", "-euc", "echo {/}"), script.replaceAll("{}", "{/}"));
  assertEquals(await warnings("--", "find", ".", "-name", "no", "-exec", "echo", "{}", ";"), exec);
  assertEquals(await warnings("--", "sh", "-c", "find . -name no -exec echo {} \\;"), script + exec);
  assertEquals(await warnings("-I@", "--", "sh", "-c", "echo @"), script.replaceAll("{}", "@"));
  assertEquals(await warnings("-I@", "--", "sh", "-c", "find . -name no -exec echo {} \\; # $1", "sh", "@"), "");
  assertEquals(await warnings("--", "sh", "-c", 'echo "$1"', "sh", "{}"), "");
  assertEquals(await warnings("--", "sh", "-c", "echo"), "");
  assertEquals(await warnings("--", "echo", "-c", "{}"), "");
});

/** Returns a command that waits until as many commands have begun as there are items, and then prints `{%}`. */
const together = (count: number) => [
  "sh",
  "-c",
  `touch "began $1"; until [ "$(ls | grep -c began)" = ${count} ]; do sleep 0.02; done; echo "$2"`,
  ...["sh", "{#}", "{%}"],
];

for (const runtime of Object.keys(someRuntimes)) {
  Deno.test(`arguments, ${runtime}: {%} is a separate number for each running command`, async () => {
    await using workspace = new Workspace(runtime);
    const { stdout } = await workspace.run(["run", "-j4", "--", ...together(4), ":::", "a", "b", "c", "d"]);
    assertEquals(stdout.split("\n").sort().join(""), "1234");
    const one = await workspace.run(["run", "-j1", "--json", "echo", "{%}", ":::", '{"a":1}', '{"a":2}']);
    assertEquals(one.stdout, "1\n1\n");
  });
}

Deno.test("arguments: {%} follows a concurrency that changes", async () => {
  await using workspace = new Workspace();
  const config = (concurrency: number) =>
    workspace.write("config.json", JSON.stringify({ queues: { q: { concurrency } } }));
  config(1);
  const script = 'echo "$2" > "began $1"; until [ -e "go $1" ]; do sleep 0.02; done';
  const args = ["run", "--config", "config.json", "--", "sh", "-c", script, "sh", "{}", "{%}"];
  const cli = await workspace.start([...args, ":::", "a", "b", "c", "d"]);
  const begins = (item: string) =>
    until(() => workspace.has(`began ${item}`) && workspace.read(`began ${item}`) !== "", `${item} begins`);
  await begins("a");
  config(3);
  for (const item of ["b", "c"]) await begins(item);
  config(2);
  await until(() => cli.stderr.includes("from 3 to 2"), "the change is in force");
  workspace.write("go a", "");
  workspace.write("go c", "");
  await begins("d");
  for (const item of ["b", "d"]) workspace.write(`go ${item}`, "");
  assertEquals((await cli.ended).code, 0);
  assertEquals(["a", "b", "c", "d"].map((item) => workspace.read(`began ${item}`).trim()), ["1", "2", "3", "1"]);
});

Deno.test("arguments: a command that is being killed keeps its slot until it has exited", async () => {
  await using workspace = new Workspace();
  // The slow command times out, and then lives on until other commands have begun. They note their slots.
  const script = `
    case $1 in
      slow) trap 'touch killed; until [ -s slots ]; do sleep 0.02; done; exit 1' TERM; echo $$ > pid ;;
      patient) trap '' TERM; until [ -e killed ]; do sleep 0.02; done; exit ;;
      *) kill -0 "$(cat pid)" && echo "$1 $2" >> slots; exit ;;
    esac
    while true; do sleep 0.02; done`;
  const args = ["run", "-j2", "--retries", "0", "--timeout", "500ms", "--", "sh", "-c", script, "sh", "{}", "{%}"];
  await workspace.run([...args, ":::", "slow", "patient", "quick"]);
  assertEquals(workspace.read("slots"), "quick 2\n");
});

Deno.test("arguments: --colsep splits lines into columns", async () => {
  await using workspace = new Workspace();
  const run = async (separator: string, lines: string, ...args: string[]) => {
    const result = await workspace.run([...ONE, "--colsep", separator, "--", "printf", "<%s>", ...args], lines);
    return [result.code, result.stdout];
  };
  assertEquals(await run("\\t", "a b\tc\n", "{2}{1}", "{}"), [0, "<ca b><a b\tc>"]);
  assertEquals(await run("\t", "a\tb\n", "{2}"), [0, "<b>"]);
  assertEquals(await run(" +", "a   b c\n", "{3}-{2}-{1}"), [0, "<c-b-a>"]);
  assertEquals(await run("\\|", "a|b\n", "{2}"), [0, "<b>"]);
  assertEquals(await run("(,|;)", "a,b;c\n", "{3}{2}{1}"), [0, "<cba>"]);
  assertEquals(await run(",", " a ,, b\n", "{1}{2}{3}"), [0, "< a  b>"]);
  assertEquals(await run(",", "x/a.tar.gz,y/b.c\n", "{1.}", "{2/}", "{1//}", "{2/.}"), [
    0,
    "<x/a.tar><b.c><x><b>",
  ]);
  assertEquals(await run(",", "a,b\n", "{1}", "{.}{/}{#}{%}", "{0}{-1}{01}{1#}"), [
    0,
    "<a><a,ba,b11><{0}{-1}{01}{1#}>",
  ]);
});

Deno.test("arguments: --colsep refuses a line without enough columns, and leaves other lines as they are", async () => {
  await using workspace = new Workspace();
  const args = [...ONE, "--colsep", ",", "--report", "report.jsonl", "--", "echo", "{2}"];
  const { code, stdout, stderr } = await workspace.run(args, "a,b\nc\nd,\na,b\nx,b\n");
  assertEquals([code, stdout], [1, "b\n\nb\n"]);
  assertStringIncludes(stderr, "Refused (no column 2): line 2\n");
  assertEquals(workspace.report().map(({ item }) => item), ["a,b", "d,", "x,b"]);
  assertEquals(JSON.parse(workspace.read("report.jsonl").split("\n")[0]!).reading, ["--colsep=,"]);
  const other = await workspace.run(["run", "--colsep", ";", "--resume", "report.jsonl", "--", "echo", "{2}"]);
  assertEquals(other.code, 2);
  assertStringIncludes(other.stderr, "its run read lines with '--colsep=,'; use the same options\n");
});

Deno.test("arguments: --colsep reads only as many columns of a long line as the command needs", async () => {
  await using workspace = new Workspace();
  const line = ",".repeat(2 ** 24) + "\n"; // more columns than a map can have entries
  const { code, stdout } = await workspace.run([...ONE, "--colsep", ",", "--", "echo", "<{2}>"], `a,b\n${line}`);
  assertEquals([code, stdout], [0, "<b>\n<>\n"]);
});

Deno.test("arguments: without --colsep, {1} is ordinary text", async () => {
  await using workspace = new Workspace();
  assertEquals((await workspace.run([...ONE, "--", "echo", "a{1}"], "x\n")).stdout, "a{1} x\n");
});

const OPTIONS = Object.entries<FlagDeclaration>(RUN_FLAGS).flatMap(([name, { short, alias }]) => [
  `--${name}`,
  ...[short, alias].filter((flag) => flag !== undefined),
]);

Deno.test("arguments: each hint is for an option that does not exist, and names only options that do", () => {
  const foreign = FOREIGN_OPTIONS.flatMap(([_, ...options]) => options);
  assertEquals(new Set(foreign).size, foreign.length, "each option has one hint");
  assertEquals(foreign.filter((option) => [...OPTIONS, "-h", "--help"].includes(option)), []);
  for (const [hint, ...options] of FOREIGN_OPTIONS) {
    assert(options.every((option) => /^(-\w|--[a-z-]{2,})$/.test(option)), `${options}`);
    const named = hint.match(/(?<=^| )-[\w-]+/g) ?? [];
    assertEquals(named.filter((option) => !OPTIONS.includes(option)), [], hint);
  }
});

for (
  const [args, option, hint] of [
    [["--joblog", "log"], "--joblog", "Use --report."],
    [["--joblog=log"], "--joblog=log", "Use --report."],
    [["-n1"], "-n1", "Leave it out: each command gets one item."],
    [["-j2", "-i"], "-i", "Write {} in the command, or use -I."],
    [["-0r"], "-r", "Leave it out: an empty list runs no command."],
    [["--jobs", "2"], "--jobs", "Use --concurrency."], // and not --json, which is spelled more alike
  ] as const
) {
  Deno.test(`arguments: ${args.join(" ")} gets a hint, with exit code 2`, async () => {
    await using workspace = new Workspace();
    const { code, stdout, stderr } = await workspace.run(["run", ...args, "--", "echo"], "a\n");
    assertEquals([code, stdout, stderr], [2, "", `error: unknown option '${option}'\n(${hint})\n`]);
  });
}

/** Command lines that mean the same to GNU parallel, after `parallel` or `workqueue run`. */
const SAME: string[][] = [
  ["-j1", "echo", "{}", ":::", "b", "a c", "it's"],
  ["-P", "1", "echo", "{%}", "{#}", ":::", "a", "b"],
  ["-j1%", "echo", "{.}", "{/}", "{//}", "{/.}", ":::", "x/a.tar.gz"],
  ["-j1", "--colsep", "\\t", "echo", "{2}-{1}", ":::", "a\tb", "c d\te"],
  ["-j1", "--colsep", " +", "echo", "{3}{2.}{1/}", ":::", "x/a  b.c   d"],
  ["-j1", "--colsep", "\\|", "echo", "{2//}", "{2/.}", "{%}", ":::", "a|x/y.z"],
  ["-j1", "--colsep", ",", "echo", "{1}{2}{3}", ":::", "a,,c"],
];

const hasParallel = await hasGnuParallel();
if (!hasParallel) console.warn("There is no GNU parallel: leaving out the comparison with it.");

Deno.test({
  name: "arguments: items after ::: mean the same as for GNU parallel",
  ignore: !hasParallel,
  fn: async () => {
    await using workspace = new Workspace();
    for (const args of SAME) {
      const ours = await workspace.run(["run", ...args]);
      const theirs = await workspace.run([], "", `exec ${quoteAll(["parallel", "--will-cite", ...args])}`);
      assertEquals([ours.code, ours.stdout], [theirs.code, theirs.stdout], args.join(" "));
    }
  },
});
