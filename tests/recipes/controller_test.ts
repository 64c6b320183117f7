/** Tests of the greeter as a process, with a cluster in this process that it reaches over HTTP. */

import { assertEquals } from "@std/assert";
import { fakeCluster } from "@workqueue/kubernetes/testing";
import type { KubeObject } from "@workqueue/kubernetes";
import { Cli, ROOT, until } from "../cli/cli.ts";
import { serveCluster } from "../kubernetes/served_cluster.ts";
import { RUNTIMES } from "../run_script.ts";
import { runtimes } from "../runtimes.ts";

interface Copied extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
}

const hello = {
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: "hello", labels: { greet: "yes" } },
  data: { name: "world" },
};

/** Permissions of Deno in the image for a cluster, and the file with the address of the cluster in this process. */
function permissions(kubeconfig: string): string[] {
  const dockerfile = Deno.readTextFileSync(`${ROOT}examples/controller/Dockerfile.deno`);
  const flags = dockerfile.match(/--allow-[^"]+/g)!;
  const more: Record<string, string> = { "--allow-read": kubeconfig, "--allow-env": "LOG_TOKENS,LOG_STREAM" };
  return flags.map((flag) => [flag, more[flag.split("=")[0]!] ?? []].flat().join());
}

for (const runtime of RUNTIMES) {
  Deno.test({
    name: `recipes, ${runtime}: the greeter copies, corrects, cleans up, and gives its lease back at SIGTERM`,
    ignore: Deno.build.os === "windows", // Windows has no SIGTERM
    fn: async () => {
      const cluster = fakeCluster();
      cluster.create(hello);
      await using served = await serveCluster(cluster);
      const kubeconfig = await Deno.makeTempFile({ prefix: "kubeconfig_" });
      await Deno.writeTextFile(kubeconfig, served.kubeconfig);
      const [file, ...options] = await runtimes[runtime]!();
      const args = options.flatMap((option) => option === "-A" ? permissions(kubeconfig) : [option]);
      const command = new Deno.Command(file!, {
        args: [...args, `${ROOT}examples/controller/greet.ts`],
        env: { KUBECONFIG: kubeconfig },
        stdin: "piped",
        stdout: "piped",
        stderr: "piped",
      });
      const greeter = new Cli(command, "");
      try {
        const copied = () => cluster.get<Copied>("v1", "Secret", "default/hello")?.data?.["name"];
        await until(() => copied() === btoa("world"), "the config map is copied");
        cluster.delete({ apiVersion: "v1", kind: "Secret", metadata: { name: "hello" } });
        await until(() => copied() === btoa("world"), "the secret is created again");
        cluster.dropConnections();
        cluster.patch(hello, { data: { name: "everybody" } });
        await until(() => copied() === btoa("everybody"), "the change is copied");
        cluster.delete(hello);
        await until(() => cluster.get("v1", "ConfigMap", "default/hello") === undefined, "the finalizer is removed");
        assertEquals(copied(), undefined);
        greeter.kill("SIGTERM");
        const { code, stderr } = await greeter.ended;
        assertEquals([code, stderr], [0, ""]);
        const lease = cluster.get("coordination.k8s.io/v1", "Lease", "default/greet") as { spec?: object } | undefined;
        assertEquals((lease?.spec as { holderIdentity?: string }).holderIdentity, "");
      } finally {
        greeter.kill("SIGKILL");
        await Deno.remove(kubeconfig);
      }
    },
  });
}
