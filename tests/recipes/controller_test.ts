/** The controller as a process of its own, and an API server in this one. */

import { assertEquals, assertStringIncludes } from "@std/assert";
import { ApiServer } from "../../examples/recipes/api_server.ts";
import { Cli, ROOT, runtimes, until } from "../cli/cli.ts";

for (const runtime of Object.keys(runtimes)) {
  Deno.test({
    name: `recipes, ${runtime}: controller.ts finishes what is in flight at SIGTERM, begins nothing else, and exits`,
    ignore: Deno.build.os === "windows", // which has no SIGTERM
    fn: async () => {
      await using server = await ApiServer.start();
      const held = Promise.withResolvers<void>();
      const updates: string[] = [];
      server.beforeUpdate = ({ metadata }) => {
        updates.push(metadata.name);
        return held.promise;
      };
      server.apply("default", "shop", { host: "shop.example.com" });
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
      const controller = new Cli(command, "");
      try {
        await until(() => updates.length > 0, "the controller writes a status");
        controller.kill("SIGTERM");
        await until(() => controller.stdout.includes("draining\n"), "the controller has seen SIGTERM");
        server.apply("default", "late", { host: "late.example.com" });
        held.resolve();
        const { code, stdout, stderr } = await controller.ended;
        assertEquals(code, 0, stderr);
        assertStringIncludes(
          stdout,
          "draining\ndefault/shop: shop.example.com is served as of generation 1\ndrained\n",
        );
        assertEquals(server.status("default/shop"), { observedGeneration: 1 });
        assertEquals(updates, ["shop"]);
      } finally {
        controller.kill("SIGKILL");
        await Deno.remove(kubeconfig);
      }
    },
  });
}
