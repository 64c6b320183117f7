import { assert, assertEquals } from "@std/assert";
import { quickConfig, ROOT, runtimes, Workspace } from "./cli.ts";

/** Commands that start the CLI as users do. */
const COMMANDS: Record<string, string[]> = {
  Deno: [Deno.execPath(), "task", "run"],
  Bun: ["npx", "-y", "bun@1", "packages/cli/workqueue.ts", "run"],
};

Deno.test("runtimes: `deno task run` and `bun packages/cli/workqueue.ts run` give the same report", async () => {
  await using workspace = new Workspace();
  workspace.write("config.json", quickConfig({ concurrency: 4, maxRetries: 2, timeout: "2s" }));
  workspace.write(
    "items",
    ["ok", "later", "never", "slow", "ok", "with  'quotes' \"$HOME\"", "ünï", "gone"].join("\r\n"),
  );
  const script = [
    'echo "out $1"; echo "err $1" >&2',
    'case "$1" in later) [ $WORKQUEUE_ATTEMPT = 3 ];; never) exit 42;; slow) sleep 60;; gone) kill -9 $$;; esac',
  ].join("; ");

  const results = await Promise.all(
    Object.entries(COMMANDS).map(async ([runtime, [file, ...args]]) => {
      const report = `${runtime}.jsonl`;
      const path = (name: string) => `${workspace.directory}/${name}`;
      const flags = ["--config", path("config.json"), "--input", path("items"), "--report", path(report)];
      const { code, stdout } = await new Deno.Command(file!, {
        args: [...args, ...flags, "--", "sh", "-c", script, "sh", "{}"],
        cwd: ROOT,
        stdin: "null",
      }).output();
      const items = workspace.report(report);
      for (const { startedAt, finishedAt } of items) assert(startedAt! < finishedAt!);
      return {
        code,
        printed: new TextDecoder().decode(stdout).split("\n").sort(),
        items: items.map((item) => ({ ...item, startedAt: "", finishedAt: "", queueSeconds: 0, workSeconds: 0 })),
      };
    }),
  );

  const [onDeno, onBun] = results;
  assertEquals(onDeno!.code, 1);
  assertEquals(onDeno!.items.length, 7);
  assertEquals(onBun, onDeno);
});

for (const runtime of Object.keys(runtimes)) {
  Deno.test(`runtimes: usage errors, retries and standard input on ${runtime} are the same as on the other runtime`, async () => {
    await using workspace = new Workspace(runtime);
    const noCommand = await workspace.run(["run", "--", "no-such-command"], "a\n");
    assertEquals(noCommand, {
      code: 2,
      stdout: "",
      stderr: "workqueue: Cannot run 'no-such-command': there is no such command\n",
    });
    workspace.write("config.yaml", "queues: { quick: { maxRetries: 1, timeout: 10s } }");
    const script = 'printf "%s|" "$1"; [ $WORKQUEUE_ATTEMPT = 2 ]';
    const { code, stdout } = await workspace.run(
      ["run", "--config", "config.yaml", "--concurrency", "1", "--", "sh", "-c", script, "sh", "{}"],
      "a b\n\0\n",
    );
    assertEquals({ code, stdout }, { code: 1, stdout: "a b|a b|" });
  });
}
