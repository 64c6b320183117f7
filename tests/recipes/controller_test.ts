/** Tests of the controller in a separate process, with an API server in this process. */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { delay } from "@std/async";
import { ApiServer } from "../../examples/controller/api_server.ts";
import { Cli, ROOT, runtimes, until } from "../cli/cli.ts";
import { Authority, HAS_OPENSSL } from "../redis/certificates.ts";

/**
 * Runs a controller as a process. If `quicker` is given, its clocks and timers are as many times as fast as real ones.
 */
async function withController(
  runtime: string,
  server: ApiServer,
  run: (controller: Cli) => Promise<void>,
  quicker?: number,
): Promise<void> {
  const kubeconfig = await Deno.makeTempFile({ prefix: "kubeconfig_" });
  await Deno.writeTextFile(kubeconfig, server.kubeconfig);
  const [file, ...args] = await runtimes[runtime]!();
  const script = quicker === undefined ? "examples/controller/controller.ts" : "tests/recipes/quick_controller.ts";
  const command = new Deno.Command(file!, {
    args: [...args, `${ROOT}${script}`],
    env: { KUBECONFIG: kubeconfig, QUICKER: `${quicker}` },
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  });
  const controller = new Cli(command, "");
  try {
    await run(controller);
  } finally {
    controller.kill("SIGKILL");
    await Deno.remove(kubeconfig);
  }
}

/** Sends SIGTERM, and returns the lines that the controller has written once it has ended by itself. */
async function terminate(controller: Cli): Promise<string[]> {
  controller.kill("SIGTERM");
  const { code, stdout, stderr } = await controller.ended;
  assertEquals(code, 0, stderr);
  return stdout.trimEnd().split("\n");
}

const isServed = (server: ApiServer, name: string) => server.status(`default/${name}`) !== undefined;

for (const runtime of Object.keys(runtimes)) {
  Deno.test({
    name: `recipes, ${runtime}: controller.ts finishes what is running at SIGTERM, begins nothing else, and exits`,
    ignore: Deno.build.os === "windows", // Windows has no SIGTERM
    fn: async () => {
      await using server = await ApiServer.start();
      const processing = Promise.withResolvers<void>();
      let isProcessing = false;
      server.beforeUpdate = () => {
        isProcessing = true;
        return processing.promise;
      };
      server.apply("default", "shop", { host: "shop.example.com" });
      await withController(runtime, server, async (controller) => {
        await until(() => isProcessing, "the controller writes a status");
        controller.kill("SIGTERM");
        await until(() => controller.stdout.includes("stopping\n"), "the controller has seen SIGTERM");
        server.apply("default", "late", { host: "late.example.com" });
        processing.resolve();
        const { code, stdout, stderr } = await controller.ended;
        assertEquals(code, 0, stderr);
        assertStringIncludes(
          stdout,
          "stopping\ndefault/shop: shop.example.com is served as of generation 1\nstopped\n",
        );
        assertEquals(server.status("default/shop"), { observedGeneration: 1 });
        const { metadata, status } = server.get("websites", "default/late")!;
        assertEquals([metadata.finalizers, status], [undefined, undefined]);
        assertEquals(server.get("configmaps", "default/late"), undefined);
      });
    },
  });

  Deno.test({
    name: `recipes, ${runtime}: controller.ts mends what it owns, cleans up by its finalizer, and comes to rest`,
    ignore: Deno.build.os === "windows",
    fn: async () => {
      await using server = await ApiServer.start();
      server.apply("default", "shop", { host: "shop.example.com" });
      const host = () => (server.get("configmaps", "default/shop")?.data as { host: string } | undefined)?.host;
      await withController(runtime, server, async (controller) => {
        await until(() => server.status("default/shop") !== undefined, "the website is served");
        assertEquals(host(), "shop.example.com");
        assertEquals(server.get("websites", "default/shop")!.metadata.finalizers, ["example.dev/dns"]);

        server.delete("configmaps", "default/shop"); // by another client
        await until(() => host() !== undefined, "the config map is made again");
        server.apply("default", "shop", { host: "www.example.com" });
        await until(() => host() === "www.example.com", "the config map follows the spec");
        const website = () => server.get("websites", "default/shop");
        const isServed = () => JSON.stringify(website()?.status) === '{"observedGeneration":2}';
        await until(isServed, "the status follows the spec");
        const version = website()!.metadata.resourceVersion;
        await delay(300);
        assertEquals(website()!.metadata.resourceVersion, version); // the controller does not react to its own updates

        server.delete("websites", "default/shop");
        await until(() => server.get("websites", "default/shop") === undefined, "the finalizer is removed");
        assertEquals(host(), undefined);
        const lines = await terminate(controller);
        assert(lines.includes("default/shop: www.example.com is removed from DNS"));
      });
    },
  });

  const test = (name: string, run: () => Promise<void>, canRun = true) =>
    Deno.test({
      name: `recipes, ${runtime}: controller.ts ${name}`,
      ignore: Deno.build.os === "windows" || !canRun,
      fn: run,
    });

  test("reaches a cluster over TLS, by the cluster's own authority", async () => {
    using authority = new Authority();
    const { ca } = authority;
    const tls = { ...authority.sign("api", "subjectAltName=IP:127.0.0.1"), ca };
    await using server = await ApiServer.start(tls);
    server.apply("default", "shop", { host: "shop.example.com" });
    await withController(runtime, server, async (controller) => {
      await until(() => isServed(server, "shop"), "the website is served");
      server.apply("default", "late", { host: "late.example.com" });
      await until(() => isServed(server, "late"), "the watch reports a website");
      await terminate(controller);
    });
  }, HAS_OPENSSL);

  test("hears of changes after a long silence, after a server closed its watches, and after it lost some", async () => {
    await using server = await ApiServer.start();
    await withController(runtime, server, async (controller) => {
      await until(() => server.watches === 2, "both watches are open");
      await delay(1000); // the controller waits for more than a minute
      server.apply("default", "a", { host: "a.example.com" });
      await until(() => isServed(server, "a"), "the watch still reports websites");
      server.endWatches();
      server.apply("default", "b", { host: "b.example.com" });
      await until(() => isServed(server, "b"), "the watch has begun again");
      let refused = 0;
      server.beforeAnswer = (_method, url) => url.searchParams.get("watch") !== "true" || ++refused > 4;
      server.endWatches();
      await until(() => refused > 4, "the watch is tried again");
      server.apply("default", "c", { host: "c.example.com" });
      await until(() => isServed(server, "c"), "the watch has begun again after errors");
      await terminate(controller);
    }, 100);
  });

  test("begins no attempt before both lists have succeeded", async () => {
    await using server = await ApiServer.start();
    server.apply("default", "shop", { host: "shop.example.com" });
    const calls: string[] = [];
    let refused = 0;
    server.beforeAnswer = (method, { pathname, searchParams }) => {
      const isList = method === "GET" && searchParams.get("watch") !== "true";
      if (isList && pathname.endsWith("/configmaps") && ++refused <= 3) return false;
      calls.push(isList ? `list ${pathname.slice(pathname.lastIndexOf("/") + 1)}` : method);
    };
    await withController(runtime, server, async (controller) => {
      await until(() => isServed(server, "shop"), "the website is served");
      await terminate(controller);
      assertEquals(refused, 4);
      const first = calls.findIndex((call) => call === "POST" || call === "PUT");
      assert(calls.indexOf("list configmaps") < first, calls.join());
      assertStringIncludes(controller.stderr, "Cannot watch config maps: the API server answered 503");
    }, 100);
  });

  test("retries a key that fails for hours, for ever", async () => {
    await using server = await ApiServer.start();
    server.apply("default", "shop", { host: "shop.example.com" });
    server.beforeAnswer = (method) => method === "GET";
    await withController(runtime, server, async (controller) => {
      await until(() => controller.stderr.includes("default/shop: attempt 20 failed"), "the website is tried again");
      await terminate(controller);
    }, 5000);
  });

  test("goes on when requests are never answered", async () => {
    await using server = await ApiServer.start();
    const hung = new Set<string>();
    server.beforeUpdate = ({ metadata: { name } }) => {
      if (name === "last" || hung.has(name)) return;
      hung.add(name);
      return new Promise(() => {});
    };
    const names = ["a", "b", "c", "d", "e", "last"]; // there are five workers
    for (const name of names) server.apply("default", name, { host: `${name}.example.com` });
    await withController(runtime, server, async (controller) => {
      await until(() => names.every((name) => isServed(server, name)), "every website is served");
      await terminate(controller);
    }, 20);
  });

  test("leaves a backlog to the next start at SIGTERM", async () => {
    await using server = await ApiServer.start();
    for (let i = 0; i < 100; i++) server.apply("default", `site-${i}`, { host: `${i}.example.com` });
    const answered = Promise.withResolvers<void>();
    let running = 0;
    server.beforeUpdate = () => {
      running++;
      return answered.promise;
    };
    server.beforeAnswer = (method, { pathname }) => method !== "PUT" || !pathname.includes("/site-0"); // is delayed
    await withController(runtime, server, async (controller) => {
      await until(() => running >= 5, "all workers are busy");
      controller.kill("SIGTERM");
      await until(() => controller.stdout.includes("stopping"), "the controller has seen SIGTERM");
      answered.resolve();
      const { code, stdout, stderr } = await controller.ended;
      assertEquals([code, stdout.endsWith("stopped\n")], [0, true], stderr);
      const served = Array.from({ length: 100 }, (_, i) => `site-${i}`).filter((name) => isServed(server, name));
      assert(served.length <= 6, served.join());
    });
  });
}
