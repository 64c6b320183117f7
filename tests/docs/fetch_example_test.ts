/** Tests of `examples/fetch.sh` with curl and a server. */

import { assertEquals, assertStringIncludes } from "@std/assert";
import { ROOT, Workspace } from "../cli/cli.ts";
import { outputOf } from "../program.ts";

const HAS_CURL = await outputOf("curl", "--version") !== undefined;
if (!HAS_CURL) console.warn("There is no curl: leaving out the tests of examples/fetch.sh.");

/** Starts a server. Its answers depend on the path, and on the number of earlier requests for the same path. */
function serve(): Deno.HttpServer<Deno.NetAddr> {
  const requests = new Map<string, number>();
  return Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, ({ url }) => {
    const { pathname } = new URL(url);
    const before = requests.get(pathname) ?? 0;
    requests.set(pathname, before + 1);
    const refuse = (status: number, after: string) =>
      new Response("sorry", { status, headers: { "Retry-After": after } });
    switch (pathname) {
      case "/moved":
        return Response.redirect(new URL("/here", url), 302);
      case "/gone":
        return refuse(404, "1");
      case "/busy":
        return before > 1 ? new Response("at last") : refuse(429, "0");
      case "/down":
        return refuse(503, "3600");
      case "/later":
        return refuse(503, "Wed, 21 Oct 2015 07:28:00 GMT");
      default:
        return new Response(pathname);
    }
  });
}

function testWithCurl(name: string, fn: () => Promise<void>): void {
  Deno.test({ name: `examples/fetch.sh: ${name}`, ignore: !HAS_CURL || Deno.build.os === "windows", fn });
}

const FETCH = ["--", "sh", `${ROOT}examples/fetch.sh`];

testWithCurl("its exit codes decide about retries", async () => {
  await using workspace = new Workspace();
  await using server = serve();
  const { port } = server.addr;
  const closed = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  closed.close();
  const items = ["here", "moved", "gone", "busy"].map((path) => `http://127.0.0.1:${port}/${path}`);
  items.push(`http://127.0.0.1:${closed.addr.port}/`, "ftp://127.0.0.1/", "http://:x/");
  const args = ["run", "-j1", "--retries", "2", "--backoff", "1ms..1ms", "--report", "report.jsonl"];
  const codes = ["--give-up-on", "65", "--retry-after-on", "75"];
  const { code } = await workspace.run([...args, ...codes, ...FETCH, "{}", "{#}.html", ":::", ...items]);
  assertEquals(code, 1);
  const report = new Map(workspace.report().map((line) => [line.item, line]));
  assertEquals(
    items.map((item) => [report.get(item)!.outcome, report.get(item)!.exitCode, report.get(item)!.attempts]),
    [
      ["succeeded", 0, 1],
      ["succeeded", 0, 1],
      ["given-up", 65, 1],
      ["succeeded", 0, 3],
      ["given-up", 75, 3],
      ["given-up", 65, 1],
      ["given-up", 65, 1],
    ],
  );
  assertEquals(report.get(items[2]!)!.stderr, "retry-after: 1\nHTTP status 404\n");
  assertEquals(workspace.files(), ["1.html", "2.html", "4.html", "report.jsonl"]);
  assertEquals(["1.html", "2.html", "4.html"].map((file) => workspace.read(file)), ["/here", "/here", "at last"]);
});

testWithCurl("it passes on the seconds or the date of Retry-After", async () => {
  await using workspace = new Workspace();
  await using server = serve();
  const items = ["down", "later"].map((path) => `http://127.0.0.1:${server.addr.port}/${path}`);
  const args = ["run", "--retries", "0", "--report", "report.jsonl", ...FETCH, "{}", "{#}.html", ":::", ...items];
  assertStringIncludes((await workspace.run(args)).stderr, "exit code 75 after 1 attempt: HTTP status 503\n");
  assertEquals(workspace.report().map(({ exitCode, stderr }) => [exitCode, stderr]), [
    [75, "retry-after: 3600\nHTTP status 503\n"],
    [75, "retry-after: Wed, 21 Oct 2015 07:28:00 GMT\nHTTP status 503\n"],
  ]);
});

testWithCurl("a download that cannot be stored is no matter of the URL", async () => {
  await using workspace = new Workspace();
  await using server = serve();
  const args = ["run", "--retries", "0", "--report", "report.jsonl", ...FETCH, "{}", "none/x.html"];
  await workspace.run(args, `http://127.0.0.1:${server.addr.port}/here\n`);
  assertEquals(workspace.report().map(({ exitCode, reason }) => [exitCode, reason]), [[1, "maxRetries"]]);
});
