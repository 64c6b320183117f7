/** Tests of the controller in a separate process, with an API server in this process. */

import { assertEquals, assertStringIncludes } from "@std/assert";
import { delay } from "@std/async";
import { ApiServer } from "../../examples/recipes/api_server.ts";
import { Cli, ROOT, runtimes, until } from "../cli/cli.ts";

/** Starts the controller. The caller must remove the kubeconfig. */
async function startController(runtime: string, server: ApiServer): Promise<{ controller: Cli; kubeconfig: string }> {
  const kubeconfig = await Deno.makeTempFile({ prefix: "kubeconfig_" });
  await Deno.writeTextFile(kubeconfig, server.kubeconfig);
  const [file, ...args] = await runtimes[runtime]!();
  const command = new Deno.Command(file!, {
    args: [...args, `${ROOT}examples/recipes/controller.ts`],
    env: { KUBECONFIG: kubeconfig },
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  });
  return { controller: new Cli(command, ""), kubeconfig };
}

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
      const { controller, kubeconfig } = await startController(runtime, server);
      try {
        await until(() => isProcessing, "the controller writes a status");
        controller.kill("SIGTERM");
        await until(() => controller.stdout.includes("draining\n"), "the controller has seen SIGTERM");
        server.apply("default", "late", { host: "late.example.com" });
        processing.resolve();
        const { code, stdout, stderr } = await controller.ended;
        assertEquals(code, 0, stderr);
        assertStringIncludes(
          stdout,
          "draining\ndefault/shop: shop.example.com is served as of generation 1\ndrained\n",
        );
        assertEquals(server.status("default/shop"), { observedGeneration: 1 });
        const { metadata, status } = server.get("websites", "default/late")!;
        assertEquals([metadata.finalizers, status], [undefined, undefined]);
        assertEquals(server.get("configmaps", "default/late"), undefined);
      } finally {
        controller.kill("SIGKILL");
        await Deno.remove(kubeconfig);
      }
    },
  });

  Deno.test({
    name: `recipes, ${runtime}: controller.ts mends what it owns, cleans up by its finalizer, and comes to rest`,
    ignore: Deno.build.os === "windows",
    fn: async () => {
      await using server = await ApiServer.start();
      server.apply("default", "shop", { host: "shop.example.com" });
      const { controller, kubeconfig } = await startController(runtime, server);
      const host = () => (server.get("configmaps", "default/shop")?.data as { host: string } | undefined)?.host;
      try {
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
        controller.kill("SIGTERM");
        const { code, stdout, stderr } = await controller.ended;
        assertEquals(code, 0, stderr);
        assertStringIncludes(stdout, "default/shop: www.example.com is removed from DNS\n");
      } finally {
        controller.kill("SIGKILL");
        await Deno.remove(kubeconfig);
      }
    },
  });
}
