import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { directoryName } from "../../packages/cli/output/results.ts";
import { type Cli, someRuntimes, until, Workspace } from "./cli.ts";
import { hasGnuParallel } from "../program.ts";

/** Items, and the names that GNU parallel 20221122 gives to their directories with `parallel -0 --results`. */
const NAMES: Record<string, string> = {
  "a/b": "a\\_b",
  "/": "\\_",
  "a//b": "a\\_\\_b",
  "a/../b": "a\\_..\\_b",
  "a\\b": "a\\\\b",
  "\\_": "\\\\_",
  "t\tab": "t\\tab",
  "\\t": "\\\\t",
  "line\nfeed": "line\nfeed",
  "-x": "-x",
  "a b": "a b",
  " lead": " lead",
  "...": "...",
  "x:y": "x:y",
  "a%b": "a%b",
  "*": "*",
  "~": "~",
  '"q"': '"q"',
  "it's": "it's",
  "日本": "日本",
  seq: "seq",
};

const LONG = "x".repeat(300);

/** Returns the paths and contents of all files below a directory. */
function tree(path: string, below = ""): Record<string, string> {
  const files: Record<string, string> = {};
  for (const { name, isDirectory } of Deno.readDirSync(`${path}/${below}`)) {
    if (isDirectory) Object.assign(files, tree(path, `${below}${name}/`));
    else files[below + name] = Deno.readTextFileSync(`${path}/${below}${name}`);
  }
  return files;
}

Deno.test("results: directories have the same names as those of GNU parallel", () => {
  for (const [item, name] of Object.entries(NAMES)) {
    assertEquals(directoryName(item, "linux"), name);
  }
});

Deno.test("results: no name leaves its directory, is too long or belongs to two items", () => {
  const shortened = [
    LONG,
    LONG + "y",
    "日".repeat(100),
    "/".repeat(200),
    "/".repeat(201),
    "x".repeat(235) + "/".repeat(99),
  ];
  const items = [...Object.keys(NAMES), "", ".", "..", "\\", "\\.", "\\..", ...shortened];
  for (const platform of ["linux", "windows", "win32"]) {
    const names = items.map((item) => directoryName(item, platform));
    assertEquals(new Set(names).size, items.length);
    for (const name of names) {
      assert(name !== "" && name !== "." && name !== ".." && !name.includes("/") && !name.includes("\0"), name);
      assert(platform !== "win32" || !/[\\:*?"<>|]|[. ]$/.test(name), name);
      assert(new TextEncoder().encode(name).length <= 255);
    }
    const again = shortened.map((item) => directoryName(directoryName(item, platform), platform));
    assert(again.every((name) => !names.includes(name)), "a shortened name is not the name of another item");
  }
});

for (const runtime of Object.keys(someRuntimes)) {
  Deno.test(`results, ${runtime}: each item has the whole output of its last attempt, printed as well`, async () => {
    await using workspace = new Workspace(runtime);
    const script = [
      'echo "$1 attempt $WORKQUEUE_ATTEMPT"; echo "error $WORKQUEUE_ATTEMPT" >&2',
      'case "$1" in big) head -c 200000 /dev/zero | tr "\\0" x;; quiet) exec true;; esac',
      '[ "$1" != never ] && [ $WORKQUEUE_ATTEMPT = 2 ]',
    ].join("; ");
    const args = ["--results", "out/deep", "--retries", "1", "--backoff", "1ms..1ms", "--concurrency", "1"];
    const { code, stdout } = await workspace.run(
      ["run", ...args, "--", "sh", "-c", script, "sh", "{}"],
      "big\nquiet\nnever\n..\n",
    );
    assertEquals(code, 1);
    assertStringIncludes(stdout, "never attempt 1\n");
    assertEquals(tree(`${workspace.directory}/out/deep`), {
      "1/big/stdout": "big attempt 2\n" + "x".repeat(200_000),
      "1/big/stderr": "error 2\n",
      "1/big/seq": "1",
      "1/quiet/stdout": "quiet attempt 1\n",
      "1/quiet/stderr": "error 1\n",
      "1/quiet/seq": "2",
      "1/never/stdout": "never attempt 2\n",
      "1/never/stderr": "error 2\n",
      "1/never/seq": "3",
      "1/\\../stdout": ".. attempt 2\n",
      "1/\\../stderr": "error 2\n",
      "1/\\../seq": "4",
    });
  });

  Deno.test(`results, ${runtime}: a file is replaced when it is complete, with every output mode`, async () => {
    for (const mode of ["--line-buffer", "--group", "-k"]) {
      await using workspace = new Workspace(runtime);
      const script =
        'head -c 200000 /dev/zero; echo > "began $WORKQUEUE_ATTEMPT"; until [ -e go ]; do sleep 0.02; done';
      const run = () => workspace.start(["run", mode, "--results", "out", "--", "sh", "-c", script], "a\n");
      workspace.write("go", "");
      assertEquals((await (await run()).ended).code, 0);
      await Deno.writeTextFile(`${workspace.directory}/out/1/a/stdout`, "before");
      await Deno.remove(`${workspace.directory}/go`);
      await Deno.remove(`${workspace.directory}/began 1`);
      const cli = await run();
      await until(() => workspace.has("began 1"), "the command has printed");
      assertEquals(workspace.read("out/1/a/stdout"), "before");
      workspace.write("go", "");
      assertEquals((await cli.ended).code, 0);
      assertEquals(Object.keys(tree(`${workspace.directory}/out`)).sort(), ["1/a/seq", "1/a/stderr", "1/a/stdout"]);
      assertEquals(workspace.read("out/1/a/stdout").length, 200_000);
    }
  });

  Deno.test(`results, ${runtime}: two runs with the same directory don't mix their output`, async () => {
    await using workspace = new Workspace(runtime);
    const script = 'printf "%0200000d" "$1"; echo > "began $1"; until [ -e "go $1" ]; do sleep 0.02; done';
    const clis: Cli[] = [];
    for (const number of ["1", "2"]) {
      clis.push(
        await workspace.start(["run", "--results", "out", "--", "sh", "-c", script, "sh", number, "{}"], "a\n"),
      );
      await until(() => workspace.has(`began ${number}`), "the command has printed");
    }
    for (const [index, cli] of clis.entries()) {
      workspace.write(`go ${index + 1}`, "");
      const { code, stderr } = await cli.ended;
      assertEquals(code, 0, stderr);
      assert(workspace.read("out/1/a/stdout") === String(index + 1).padStart(200_000, "0"));
    }
    assertEquals(Object.keys(tree(`${workspace.directory}/out`)).sort(), ["1/a/seq", "1/a/stderr", "1/a/stdout"]);
  });

  Deno.test(`results, ${runtime}: a directory that can't be written ends the run with the reason`, async () => {
    await using workspace = new Workspace(runtime);
    workspace.write("file", "");
    const early = await workspace.run(["run", "--results", "file/out", "--", "touch", "ran"], "a\n");
    assertEquals(early, {
      code: 2,
      stdout: "",
      stderr: "workqueue: Cannot write results in 'file/out': part of its path is not a directory\n",
    });
    assertEquals(workspace.files(), ["file"]);
    const script = "mkdir -p out; rm -rf out/1; echo > out/1";
    const args = ["--results", "out", "--report", "report.jsonl", "--no-append", "--concurrency", "1"];
    const late = await workspace.run(["run", ...args, "--", "sh", "-c", script], "a\nb\n");
    assertEquals(late.code, 2);
    assertStringIncludes(
      late.stderr,
      "workqueue: Cannot write results in 'out': part of its path is not a directory\n",
    );
    assertEquals(workspace.report().map(({ outcome }) => outcome), ["unfinished", "unfinished"]);
  });
}

for (const runtime of Object.keys(someRuntimes)) {
  Deno.test({
    name: `results, ${runtime}: output that does not fit on the disk leaves no partial file`,
    // Deno's runtime itself writes a file that exceeds the size limit, so this error can't be tested on Deno.
    ignore: Deno.build.os === "windows" || runtime.startsWith("Deno"),
    fn: async () => {
      await using workspace = new Workspace(runtime);
      const script = 'head -c "$1" /dev/zero; sleep 300';
      const args = ["--results", "out", "--report", "report.jsonl", "--", "sh", "-c", script, "sh", "{}"];
      const limited = await workspace.run(["run", ...args], "400000\n", 'ulimit -f 300; exec "$@"');
      assertEquals(limited.code, 2);
      assertStringIncludes(limited.stderr, "Cannot write results in 'out': it would exceed the maximum file size\n");
      assertEquals(tree(`${workspace.directory}/out`), {});
      assertEquals(workspace.report().map(({ outcome }) => outcome), ["unfinished"]);
    },
  });
}

Deno.test("results: the reason why a command can't be started is in its files", async () => {
  await using workspace = new Workspace();
  const { code } = await workspace.run(["run", "--results", "out", "--", "{}"], "no-such-command\n");
  assertEquals(code, 1);
  const files = tree(`${workspace.directory}/out`);
  assertEquals([files["1/no-such-command/stdout"], files["1/no-such-command/seq"]], ["", "1"]);
  assertStringIncludes(files["1/no-such-command/stderr"]!, "Cannot run 'no-such-command': ");
});

Deno.test({
  name: "results: the files are the same as those of GNU parallel",
  ignore: !await hasGnuParallel(), // the first test has its names
  fn: async () => {
    await using workspace = new Workspace();
    const items = Object.keys(NAMES).join("\0");
    const theirs = await workspace.run([], items, `parallel -0 --results theirs "printf '%s\\n'" > printed`);
    assertEquals(theirs.code, 0, theirs.stderr);
    const ours = await workspace.run(["run", "-0", "--results", "ours", "--", "echo"], items);
    assertEquals(ours.code, 0, ours.stderr);
    assertEquals(tree(`${workspace.directory}/ours`), tree(`${workspace.directory}/theirs`));
  },
});
