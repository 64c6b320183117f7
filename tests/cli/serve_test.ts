/** Tests of a run's dashboard, and of config changes during the run. */

import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { type Cli, runtimes, until, Workspace } from "./cli.ts";

const sh = (script: string, ...args: string[]) => ["--", "sh", "-c", script, "sh", ...args];

/** Opens the dashboard. Returns its address and the session cookie. */
async function open(cli: Cli): Promise<{ base: string; cookie: string }> {
  await until(() => cli.stderr.includes("Dashboard: "), "it says where the dashboard is");
  const address = cli.stderr.match(/Dashboard: (\S+)\n/)![1]!;
  assertMatch(address, /^http:\/\/127\.0\.0\.1:\d+\/\?token=[0-9a-f]{32}$/);
  const { headers, body } = await fetch(address, { redirect: "manual" });
  await body?.cancel();
  return { base: new URL("/", address).href, cookie: headers.get("set-cookie")!.split(";")[0]! };
}

/** Returns the dashboard's data about a queue. */
async function look({ base, cookie }: { base: string; cookie: string }, name = "default") {
  const response = await fetch(`${base}api/queues/${name}`, { headers: { cookie } });
  assertEquals(response.status, 200);
  return await response.json();
}

async function act(page: { base: string; cookie: string }, action: string, body: object, name = "default") {
  const state = await (await fetch(`${page.base}api/state`, { headers: { cookie: page.cookie } })).json();
  const response = await fetch(`${page.base}api/queues/${name}/${action}`, {
    method: "POST",
    body: JSON.stringify(body),
    headers: {
      cookie: page.cookie,
      "content-type": "application/json",
      origin: page.base.slice(0, -1),
      "x-workqueue-instance": state.instance,
    },
  });
  assertEquals([response.status, await response.json().then(({ error }) => error)], [200, undefined]);
}

for (const runtime of Object.keys(runtimes)) {
  Deno.test(`serve, ${runtime}: the dashboard shows failing items and reasons, and controls the run`, async () => {
    await using workspace = new Workspace(runtime);
    const script =
      'case "$1" in bad) echo "db down" >&2; exit 1;; *) touch began; until [ -e go ]; do sleep 0.02; done;; esac';
    const args = ["run", "--serve", "--backoff", "1h..1h", "--concurrency", "2", "--report", "report.jsonl"];
    const cli = await workspace.start([...args, ...sh(script, "{}")], "bad\nslow\n");
    const page = await open(cli);
    await until(() => workspace.has("began"), "the slow one has begun");
    await until(async () => (await look(page)).failingItems.length === 1, "the bad one has failed");
    const { failingItems: failing, runningItems: running } = await look(page);
    assertEquals([failing[0].key, failing[0].error, running[0].key], ["bad", "Error: db down", "slow"]);

    assertEquals((await fetch(`${page.base}api/state`)).status, 401, "only who has the token may look");
    await act(page, "take-back", { key: "bad" });
    workspace.write("go", "");
    const { code, stderr } = await cli.ended;
    assertEquals(code, 1, "one was taken back");
    assertMatch(stderr, /^Unfinished +1$/m);
    assertEquals(workspace.report().map(({ item, outcome }) => [item, outcome]), [["bad", "unfinished"], [
      "slow",
      "succeeded",
    ]]);
  });

  Deno.test(`serve, ${runtime}: a port in use is an error before anything starts`, async () => {
    await using workspace = new Workspace(runtime);
    const server = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    const { port } = server.addr as Deno.NetAddr;
    const args = ["run", "--serve", String(port), "--report", "report.jsonl", "--", "touch"];
    const { code, stderr } = await workspace.run(args, "a\n");
    server.close();
    assertEquals(
      [code, stderr, workspace.files()],
      [2, `workqueue: Cannot serve the dashboard on port ${port}: it is in use\n`, []],
    );
  });

  Deno.test(`serve, ${runtime}: a config that changes is reloaded, and the options stay`, async () => {
    await using workspace = new Workspace(runtime);
    const config = (concurrency: number) => `queues: { q: { concurrency: ${concurrency}, maxRetries: 0 } }`;
    workspace.write("config.yaml", config(1));
    const script = 'touch "began $1"; until [ -e go ]; do sleep 0.02; done; exit 1';
    const args = [
      "run",
      "--config",
      "config.yaml",
      "--retries",
      "1",
      "--backoff",
      "1ms..1ms",
      "--report",
      "report.jsonl",
    ];
    const cli = await workspace.start([...args, ...sh(script, "{}")], "a\nb\nc\n");
    await until(() => workspace.has("began a"), "the first has begun");
    workspace.write("config.yaml", "queues: [");
    await until(() => cli.stderr.includes("config.yaml"), "it says that the file is broken");
    workspace.write("config.yaml", config(2));
    await until(() => workspace.has("began b"), "another has begun");
    assert(!workspace.has("began c"), "and no more than two");
    workspace.write("go", "");
    const { code, stderr } = await cli.ended;
    assertEquals(code, 1);
    assertStringIncludes(stderr, "Config: /queues/q/concurrency changed from 1 to 2\n");
    assertEquals(workspace.report().map(({ attempts }) => attempts), [2, 2, 2]);
  });
}

Deno.test("serve: the dashboard can raise the concurrency, and a run that it paused waits until it resumes the run", async () => {
  await using workspace = new Workspace();
  const script = 'touch "began $1"; until [ -e go ]; do sleep 0.02; done';
  const cli = await workspace.start(["run", "--serve", "--concurrency", "1", ...sh(script, "{}")], "a\nb\nc\nd\n");
  const page = await open(cli);
  await until(() => workspace.has("began a"), "the first has begun");
  await act(page, "concurrency", { concurrency: 3 });
  await until(() => workspace.has("began c"), "three have begun");
  assert(!workspace.has("began d"));
  await act(page, "pause", {});
  workspace.write("go", "");
  await until(async () => (await look(page)).runningItems.length === 0, "what ran has ended");
  assert(!workspace.has("began d"));
  await act(page, "resume", {});
  assertEquals((await cli.ended).code, 0);
  assert(workspace.has("began d"));
});

Deno.test("serve: a paused run says so, and ends when nothing is left to do", async () => {
  await using workspace = new Workspace();
  const script = 'touch "began $1"; until [ -e go ]; do sleep 0.02; done';
  const cli = await workspace.start(["run", "--serve", "--concurrency", "2", ...sh(script, "{}")], "a\nb\n");
  const page = await open(cli);
  await until(() => workspace.has("began a") && workspace.has("began b"), "both have begun");
  await act(page, "pause", {});
  await until(() => cli.stderr.includes(", paused"), "it says so");
  workspace.write("go", "");
  assertEquals((await cli.ended).code, 0);
});

Deno.test("serve: a cancelled item is finished at once, and the request that cancels the last item gets an answer", async () => {
  await using workspace = new Workspace();
  const fifo = `${workspace.directory}/fifo`;
  await new Deno.Command("mkfifo", { args: [fifo] }).output();
  const args = ["run", "--serve", "--backoff", "1h..1h", "--report", "report.jsonl", "--input", "fifo", "--", "false"];
  const cli = await workspace.start(args);
  using file = await Deno.open(fifo, { write: true });
  await file.write(new TextEncoder().encode("a\nb\n"));
  const page = await open(cli);
  await until(async () => (await look(page)).failingItems.length === 2, "both have failed");
  await act(page, "take-back", { key: "a" });
  assertEquals(workspace.report().map(({ item, outcome }) => [item, outcome]), [["a", "unfinished"]]);
  await until(() => / 1 queued, 1 failing, /.test(cli.stderr), "it is not among what is to be tried");
  file.close();
  await act(page, "take-back", { search: "" });
  assertEquals((await cli.ended).code, 1);
  assertEquals(workspace.report().length, 2);
});

Deno.test("serve: cancelling a running item ends its command, and the item counts once", async () => {
  await using workspace = new Workspace();
  const script = 'trap "touch ended; exit 0" TERM; touch began; while [ "$1" = long ]; do sleep 0.02; done';
  const args = ["run", "--serve", "--concurrency", "1", "--group", "--report", "report.jsonl", ...sh(script, "{}")];
  const cli = await workspace.start(args, "long\nshort\n");
  const page = await open(cli);
  await until(() => workspace.has("began"), "the command runs");
  await act(page, "cancel", { key: "long" });
  assertEquals((await cli.ended).code, 1);
  assert(workspace.has("ended"), "the command was ended");
  const reported = workspace.report().map(({ item, outcome }) => [item, outcome]);
  assertEquals(reported, [["long", "unfinished"], ["short", "succeeded"]]);
  for (const row of [/^Distinct items +2$/m, /^Succeeded +1$/m, /^Unfinished +1$/m]) assertMatch(cli.stderr, row);
});

Deno.test("serve: each time the concurrency is raised, more commands start at once", async () => {
  await using workspace = new Workspace();
  const script = 'touch "began $1"; until [ -e go ]; do sleep 0.02; done';
  const items = Array.from({ length: 12 }, (_, i) => `${i}\n`).join("");
  const cli = await workspace.start(["run", "--serve", "--concurrency", "2", ...sh(script, "{}")], items);
  const page = await open(cli);
  const begun = () => workspace.files().filter((file) => file.startsWith("began")).length;
  await until(() => begun() === 2, "two have begun");
  for (const concurrency of [4, 6, 9]) {
    await act(page, "concurrency", { concurrency });
    await until(() => begun() === concurrency, `${concurrency} have begun`);
  }
  workspace.write("go", "");
  assertEquals((await cli.ended).code, 0);
});
