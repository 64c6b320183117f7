/** Tests of certificates and credentials on each runtime. */

import { assertEquals, assertNotEquals } from "@std/assert";
import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Authority } from "../../redis/certificates.ts";
import { allRuntimes } from "../../runtimes.ts";
import { configMaps } from "./admin.ts";
import type { Cluster } from "./cluster.ts";
import { ControllerProcess } from "./controller_process.ts";
import { changeMany, createMany, greeting, untilInOrder } from "./greetings.ts";
import { onEachRuntime } from "./real_tests.ts";
import { grant, OF_GREETER } from "./rights.ts";

const NAMESPACE = "default";

/** Sends a request with each kubeconfig, in one process. Returns the user's names, or the errors. */
async function usersOf(runtime: string, kubeconfigs: readonly string[]): Promise<(string | number)[]> {
  const script = fileURLToPath(new URL("connect.ts", import.meta.url));
  const [program, ...args] = [...await allRuntimes[runtime]!(), script, ...kubeconfigs];
  const { stdout, stderr } = await new Deno.Command(program!, { args }).output();
  const text = new TextDecoder().decode(stdout);
  if (text === "") throw new Error(new TextDecoder().decode(stderr));
  return JSON.parse(text);
}

/** Writes a program that prints credentials as `client-go` expects them of a plugin. Returns its path. */
function plugin(cluster: Cluster, tokenFile: string, expiresIn: number): string {
  const path = join(cluster.folder, "plugin");
  const expiry = `$(date -u -d '+${expiresIn} seconds' +%Y-%m-%dT%H:%M:%SZ)`;
  const head = `{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential"`;
  const text = `${head},"status":{"token":"$(cat ${tokenFile})","expirationTimestamp":"${expiry}"}}`;
  writeFileSync(path, `#!/bin/sh\necho run >> ${path}.runs\ncat <<EOF\n${text}\nEOF\n`);
  chmodSync(path, 0o755);
  return path;
}

onEachRuntime("each way to verify the server and to authenticate", async (runtime, cluster, t) => {
  const { authority, folder } = cluster;
  authority.sign("carol", "extendedKeyUsage=clientAuth");
  const file = (name: string) => join(authority.folder, name);
  const data = (name: string) => btoa(readFileSync(file(name), "utf8"));
  const tokenFile = join(folder, "token");
  writeFileSync(tokenFile, "token-of-controller\n");
  const port = new URL(cluster.api.url).port;

  await t.step("the server's certificate", async () => {
    using stranger = new Authority();
    const clusters = [
      { "certificate-authority": file("ca.crt") },
      { "certificate-authority": undefined, "certificate-authority-data": data("ca.crt") },
      { "certificate-authority": undefined, "insecure-skip-tls-verify": true },
      { server: `https://localhost:${port}`, "tls-server-name": "cluster.test" },
    ].map((settings) => cluster.kubeconfig({ cluster: settings }));
    assertEquals(await usersOf(runtime, clusters), ["admin", "admin", "admin", "admin"]);
    const refused = [
      { "certificate-authority": join(stranger.folder, "ca.crt") },
      { "certificate-authority": undefined },
      { "tls-server-name": "other.test" },
    ].map((settings) => cluster.kubeconfig({ cluster: settings }));
    for (const error of await usersOf(runtime, refused)) assertNotEquals(error, "admin");
  });

  await t.step("the client's credentials", async () => {
    const users = [
      { "client-certificate": file("carol.crt"), "client-key": file("carol.key") },
      { "client-certificate-data": data("carol.crt"), "client-key-data": data("carol.key") },
      { token: "token-of-controller" },
      { tokenFile },
      { exec: { apiVersion: "client.authentication.k8s.io/v1", command: plugin(cluster, tokenFile, 3600) } },
      { token: "unknown" },
    ].map((user) => cluster.kubeconfig({ user }));
    const expected = ["carol", "carol", "controller", "controller", "controller", 401];
    assertEquals(await usersOf(runtime, users), expected);
  });

  await t.step("a token that is rotated while the controller runs, in a file and by a program", async () => {
    await grant(cluster.admin, OF_GREETER);
    const exec = { apiVersion: "client.authentication.k8s.io/v1", command: plugin(cluster, tokenFile, 3600) };
    const starts = [{ tokenFile }, { exec }].map((user, i) =>
      ControllerProcess.greeter(runtime, cluster.kubeconfig({ user }), {
        API_VERSION: "v1",
        NAMESPACES: i === 0 ? NAMESPACE : "other",
      })
    );
    await cluster.namespace("other");
    const [first, second] = await Promise.all(starts);
    await using _first = first!;
    await using _second = second!;
    for (const namespace of [NAMESPACE, "other"]) {
      const names = await createMany(cluster.admin, namespace, "a", 5);
      await untilInOrder(cluster.admin, namespace, names.length, 60_000);
    }
    cluster.tokens = { "next-token-of-controller": "controller" };
    cluster.writeTokens();
    await cluster.api.restart(); // from now on, the old token is refused
    writeFileSync(tokenFile, "next-token-of-controller\n");
    for (const namespace of [NAMESPACE, "other"]) {
      await changeMany(cluster.admin, namespace, ["a-1", "a-2"], "rotated");
      await cluster.admin.create(configMaps(namespace), greeting("late", { text: "hello" }));
      await untilInOrder(cluster.admin, namespace, 6, 60_000);
    }
  });
});
