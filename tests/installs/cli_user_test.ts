/**
 * Tests of the steps that a new user takes with the installed command, on each runtime. The tests run only on Deno,
 * which starts the other runtimes.
 */

import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { RUNTIMES } from "../../release/installed.ts";
import { ROOT, TELL_CODE, until, WITH_PID, Workspace } from "../cli/cli.ts";
import { EVERY } from "../every.ts";

const ignore = Deno.build.os === "windows"; // Windows has no `sh`

/** The tests of one runtime suffice, because `tests/cli/` tests the command on the others. */
for (const runtime of EVERY ? RUNTIMES : ["Node"] as const) {
  Deno.test({
    name: `cli, ${runtime}: a config in JSON with a plugin, and one in YAML`,
    ignore,
    fn: async () => {
      await using workspace = new Workspace(runtime);
      Deno.copyFileSync(`${ROOT}examples/linear_plugin.mjs`, `${workspace.directory}/plugin.mjs`);
      const limiter = { type: "linear", step: "1ms" };
      workspace.write("queues.json", JSON.stringify({ queues: { mails: { limiter, maxRetries: 2, concurrency: 1 } } }));
      workspace.write("queues.yaml", "queues: { mails: { limiter: { type: linear, step: 1ms }, maxRetries: 1 } }");
      for (const [config, attempts] of [["queues.json", 3], ["queues.yaml", 2]] as const) {
        const args = ["--config", config, "--plugin", "plugin.mjs", "--report", `${config}.report`, "--", "false"];
        assertEquals((await workspace.run(["run", ...args], "a\n")).code, 1);
        assertEquals(workspace.report(`${config}.report`).map((item) => item.attempts), [attempts]);
      }
    },
  });

  Deno.test({
    name: `cli, ${runtime}: an endless pipe is processed until SIGTERM, which exits with 143`,
    ignore,
    fn: async () => {
      await using workspace = new Workspace(runtime);
      const args = ["run", "--no-dedupe", "--concurrency", "4", "--report", "report.jsonl", "--", "sh", "-c"];
      const script = `yes | { ${WITH_PID}; ${TELL_CODE}; }`;
      const cli = await workspace.start([...args, 'echo "got $1"', "sh"], "", script);
      await until(() => cli.stdout.split("got y\n").length > 100, "a hundred were done");
      Deno.kill(Number(workspace.read("pid")), "SIGTERM");
      const { stderr } = await cli.ended;
      assertEquals(workspace.read("code"), "143\n");
      assertMatch(stderr, /^Unfinished +\d+$/m);
    },
  });

  Deno.test({
    name: `cli, ${runtime}: if few files can be open, fewer commands run at once, and all succeed`,
    ignore,
    fn: async () => {
      await using workspace = new Workspace(runtime);
      const items = Array.from({ length: 100 }, (_, i) => `${i}\n`).join("");
      const args = ["run", "--retries", "0", "--concurrency", "30", "--", "sh", "-c", "sleep 0.1", "sh"];
      const { code, stderr } = await workspace.run(args, items, 'ulimit -n 40; exec "$@"');
      assertEquals(code, 0, stderr);
      assertStringIncludes(stderr, "Running fewer commands at once: too many files are open.\n");
      assertMatch(stderr, /^Succeeded +100$/m);
    },
  });

  Deno.test({
    name:
      `cli, ${runtime}: many commands that print at once lose no output, and with --quiet, nothing is printed to standard error`,
    ignore,
    fn: async () => {
      await using workspace = new Workspace(runtime);
      const items = Array.from({ length: 100 }, (_, i) => `${i}\n`);
      const args = ["run", "--quiet", "--concurrency", "32", "--no-append", "--", "seq", "1000"];
      const { code, stdout, stderr } = await workspace.run(args, items.join(""));
      assertEquals([code, stderr, stdout.split("\n").length - 1], [0, "", 100 * 1000]);
    },
  });

  Deno.test({
    name: `cli, ${runtime}: after kill -9, it continues where it was`,
    ignore,
    fn: async () => {
      await using workspace = new Workspace(runtime);
      const items = Array.from({ length: 60 }, (_, i) => `${i}`);
      workspace.write("items", items.join("\n"));
      const script =
        'echo "$1" >> began; while [ -e stop ] && [ "$1" -ge 20 ]; do sleep 0.05; done; echo "$1" >> ended';
      const args = [
        "run",
        "--resume",
        "report.jsonl",
        "--input",
        "items",
        "--concurrency",
        "2",
        "--",
        "sh",
        "-c",
        script,
        "sh",
      ];
      workspace.write("stop", "");
      const cli = await workspace.start(args, "", WITH_PID);
      await until(
        () => workspace.has("began") && workspace.read("began").split("\n").length === 23,
        "two are running",
      );
      await until(() => workspace.report().length === 20, "what has ended is reported");
      Deno.kill(Number(workspace.read("pid")), "SIGKILL");
      await cli.ended;
      Deno.removeSync(`${workspace.directory}/stop`);
      await until(() => workspace.read("ended").split("\n").length === 23, "what was left behind has ended");
      const { code, stderr } = await workspace.run(args);
      assertEquals(code, 0, stderr);
      assertStringIncludes(stderr, "Already done       20\n");
      const began = workspace.read("began").trim().split("\n");
      assertEquals([began.length, new Set(began).size], [62, 60], "only what was running was done again");
    },
  });

  Deno.test({
    name: `cli, ${runtime}: the dashboard shows failing items, and Ctrl-C ends everything`,
    ignore,
    fn: async () => {
      await using workspace = new Workspace(runtime);
      const args = ["run", "--serve", "--backoff", "1h..1h", "--", "sh", "-c", "echo db down >&2; exit 1"];
      const cli = await workspace.start(args, "a\n");
      await until(() => cli.stderr.includes("Dashboard: "), "it says where the dashboard is");
      const address = cli.stderr.match(/Dashboard: (\S+)\n/)![1]!;
      const { headers, body } = await fetch(address, { redirect: "manual" });
      await body?.cancel();
      const cookie = headers.get("set-cookie")!.split(";")[0]!;
      const look = async () =>
        await (await fetch(new URL("/api/queues/default", address), { headers: { cookie } })).json();
      await until(async () => (await look()).failingItems.length === 1, "the item has failed");
      assertStringIncludes((await look()).failingItems[0].error, "db down");
      cli.kill("SIGINT");
      const { code } = await cli.ended;
      assertEquals(code, 130);
      assert(await fetch(address).then(() => false, () => true), "nobody listens any more");
    },
  });
}
