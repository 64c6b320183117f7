/** Tests of the webhook service in a separate process, with receivers in this process. */

import { assert, assertEquals, assertLess, assertStringIncludes } from "@std/assert";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Cli, ROOT, runtimes, until } from "../cli/cli.ts";

/** The example's config, with delays that are short enough for a test. */
const CONFIG = {
  queues: {
    deliveries: {
      limiter: { type: "exponential", baseDelay: "20ms", maxDelay: "20ms" },
      discipline: { type: "fair", separator: "/", maxPerGroup: 2 },
      concurrency: 4,
      maxRetries: 2,
      timeout: "60s",
    },
  },
};

type Answer = (path: string, response: ServerResponse, times: number) => void;

/** Starts a receiver that records each request and its time. */
async function startReceiver(answer: Answer) {
  const requests: { path: string; id: string; at: number }[] = [];
  const server = createServer((request: IncomingMessage, response) => {
    const path = request.url!;
    requests.push({ path, id: String(request.headers["webhook-id"]), at: performance.now() });
    request.resume().once("end", () => answer(path, response, requests.filter((r) => r.path === path).length));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    requests,
    url: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Starts a service in a folder and waits until it listens. */
async function startService(runtime: string, folder: string, grace = 25_000, program = "service.ts") {
  await Deno.writeTextFile(`${folder}/service.json`, JSON.stringify(CONFIG));
  const [file, ...args] = await runtimes[runtime]!();
  const command = new Deno.Command(file!, {
    args: [...args, `${ROOT}examples/webhooks/${program}`, `${folder}/service.json`],
    cwd: folder,
    env: { PORT: "0", GRACE: String(grace), LEASE: "1s" },
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  });
  const cli = new Cli(command, "");
  await until(() => cli.stdout.includes("listening on"), "the service listens");
  const base = `http://127.0.0.1:${/listening on (\d+)/.exec(cli.stdout)![1]}`;
  async function post(tenant: string, id: string, url: string): Promise<number> {
    const body = JSON.stringify({ tenant, id, url, body: { event: "paid" } });
    const response = await fetch(`${base}/deliveries`, { method: "POST", body });
    await response.body?.cancel();
    return response.status;
  }
  return { cli, base, post };
}

for (const runtime of ["Deno", "Bun"].filter((name) => name in runtimes)) {
  Deno.test({
    name: `webhook service, ${runtime}: retries, honours Retry-After, gives up, and saves the remaining items`,
    ignore: Deno.build.os === "windows", // Windows has no SIGTERM
    fn: async () => {
      let isHanging = false;
      await using receiver = await startReceiver((path, response, times) => {
        if (path === "/gone") response.writeHead(410).end();
        else if (path === "/down") response.writeHead(500).end();
        else if (path === "/busy" && times === 1) response.writeHead(429, { "retry-after": "1" }).end();
        else if (path.startsWith("/hang") && isHanging) return;
        else setTimeout(() => response.writeHead(204).end(), 20);
      });
      const folder = await Deno.makeTempDir({ prefix: "webhooks_" });
      const { requests, url } = receiver;
      const { cli, base, post } = await startService(runtime, folder, 500);
      try {
        for (let i = 0; i < 40; i++) assertEquals(await post("big", String(i), `${url}/big/${i}`), 202);
        assertEquals(await post("small", "1", `${url}/small`), 202);
        await until(() => requests.length === 41, "all are delivered");
        assertEquals(new Set(requests.map(({ path }) => path)).size, 41);
        assertEquals(requests.find(({ path }) => path === "/small")!.id, "1");

        for (const path of ["gone", "down", "busy"]) await post("acme", path, `${url}/${path}`);
        const of = (path: string) => requests.filter((request) => request.path === path);
        const givenUp = async () => await Deno.readTextFile(`${folder}/given-up.jsonl`).catch(() => "");
        await until(async () => of("/busy").length === 2 && (await givenUp()).split("\n").length === 3, "all is over");
        assert(of("/busy")[1]!.at - of("/busy")[0]!.at >= 990);
        assertEquals([of("/gone").length, of("/down").length], [1, 3]);
        const saved = (await givenUp()).trim().split("\n").map((line) => JSON.parse(line));
        assertEquals(
          saved.map(({ delivery, attempts, reason }) => [delivery.id, attempts, reason]).sort(),
          [["down", 3, "maxRetries"], ["gone", 1, "terminal"]],
        );

        assertEquals(await post("a/b", "1", url), 400);
        assertStringIncludes(await (await fetch(`${base}/metrics`)).text(), "workqueue_given_up_total");
        const page = await fetch(`${base}/dashboard/`);
        assertEquals(page.status, 200);
        assertStringIncludes(await page.text(), "<html");

        // Even if a receiver hangs during a deploy, every accepted item is delivered or saved.
        isHanging = true;
        for (let i = 0; i < 6; i++) await post("acme", `h${i}`, `${url}/hang/${i}`);
        await until(() => of("/hang/0").length === 1, "a delivery hangs");
        cli.kill("SIGTERM");
        const { code, stdout, stderr } = await cli.ended;
        assertEquals(code, 0, stderr);
        assertStringIncludes(stdout, "drained, 6 left\n");
        isHanging = false;
        const next = await startService(runtime, folder);
        try {
          for (let i = 0; i < 6; i++) {
            await until(() => of(`/hang/${i}`).length >= (i < 2 ? 2 : 1), `delivery ${i} comes after the restart`);
          }
          next.cli.kill("SIGTERM");
          assertStringIncludes((await next.cli.ended).stdout, "drained, 0 left\n");
        } finally {
          next.cli.kill("SIGKILL");
        }
      } finally {
        cli.kill("SIGKILL");
        await Deno.remove(folder, { recursive: true });
      }
    },
  });

  Deno.test({
    name: `webhook service, ${runtime}: a tenant whose receiver hangs does not hold up the others`,
    ignore: Deno.build.os === "windows",
    fn: async () => {
      await using receiver = await startReceiver((path, response) => {
        if (!path.startsWith("/slow")) response.writeHead(204).end();
      });
      const folder = await Deno.makeTempDir({ prefix: "webhooks_" });
      const { cli, post } = await startService(runtime, folder, 200);
      try {
        for (let i = 0; i < 10; i++) await post("slow", String(i), `${receiver.url}/slow/${i}`);
        for (let i = 0; i < 10; i++) await post("fast", String(i), `${receiver.url}/fast/${i}`);
        const of = (tenant: string) => receiver.requests.filter(({ path }) => path.startsWith(`/${tenant}/`)).length;
        await until(() => of("fast") === 10, "the fast tenant is done");
        assertLess(of("slow"), 3); // because of `maxPerGroup`
      } finally {
        cli.kill("SIGKILL");
        await cli.ended.catch(() => {});
        await Deno.remove(folder, { recursive: true });
      }
    },
  });

  Deno.test({
    name: `durable webhook service, ${runtime}: loses no delivery when it is killed or shut down`,
    ignore: Deno.build.os === "windows",
    fn: async () => {
      let isHanging = true;
      await using receiver = await startReceiver((_path, response) => {
        if (!isHanging) response.writeHead(204).end();
      });
      const { requests, url } = receiver;
      const folder = await Deno.makeTempDir({ prefix: "webhooks_" });
      const start = () => startService(runtime, folder, 300, "durable.ts");
      const services = [await start()];
      try {
        for (let i = 0; i < 20; i++) assertEquals(await services[0]!.post(`tenant-${i}`, "1", `${url}/${i}`), 202);
        await until(() => requests.length === 4, "four deliveries hang");
        services[0]!.cli.kill("SIGKILL");
        await services[0]!.cli.ended.catch(() => {});

        services.push(await start());
        await until(() => requests.length > 4, "others hang after the restart");
        services[1]!.cli.kill("SIGTERM");
        const { code, stdout, stderr } = await services[1]!.cli.ended;
        assertEquals([code, stdout.endsWith("drained\n")], [0, true], stderr);

        isHanging = false;
        services.push(await start());
        const delivered = async () => (await fetch(`${services[2]!.base}/metrics`)).text();
        await until(async () => /workqueue_depth\{[^}]*\} 0\n/.test(await delivered()), "no delivery is left");
        await until(() => new Set(requests.map(({ path }) => path)).size === 20, "every delivery has arrived");
        services[2]!.cli.kill("SIGTERM");
        assertEquals((await services[2]!.cli.ended).code, 0);
      } finally {
        for (const { cli } of services) cli.kill("SIGKILL");
        await Deno.remove(folder, { recursive: true });
      }
    },
  });
}
