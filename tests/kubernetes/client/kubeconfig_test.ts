/** Tests of the search for a server and credentials: kubeconfig files, service accounts, and the home folder. */

import { assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { delimiter } from "node:path";
import { accessOf } from "../../../packages/kubernetes/client/environment.ts";
import { readKubeconfig } from "../../../packages/kubernetes/client/kubeconfig.ts";
import { codeOf } from "../../helpers.ts";
import { Files } from "./files.ts";

/** Returns a kubeconfig whose cluster, user and context have the same name. */
function configOf(name: string, cluster: object = {}, user: object = {}): Record<string, unknown> {
  return {
    "current-context": name,
    clusters: [{ name, cluster: { server: `https://${name}:6443`, ...cluster } }],
    users: [{ name, user: { token: `token of ${name}`, ...user } }],
    contexts: [{ name, context: { cluster: name, user: name } }],
  };
}

Deno.test("kubeconfig: the current context is used, unless another one is given", () => {
  using files = new Files();
  const [a, b] = [configOf("a"), configOf("b")] as [Record<string, unknown[]>, Record<string, unknown[]>];
  const lists = ["clusters", "users", "contexts"].map((list) => [list, [...a[list]!, ...b[list]!]]);
  const path = files.write("config", { "current-context": "a", ...Object.fromEntries(lists) });
  assertEquals(readKubeconfig([path]), {
    cluster: { server: "https://a:6443" },
    user: { token: "token of a" },
  });
  assertEquals(readKubeconfig([path], "b").cluster.server, "https://b:6443");
});

Deno.test("kubeconfig: in several files, the first one with a name wins as a whole, and a missing file is ignored", () => {
  using files = new Files();
  const first = files.write("first", { ...configOf("a"), "current-context": "" });
  const second = files.write("second", {
    ...configOf("a", { "tls-server-name": "second" }, { username: "second" }),
    "current-context": "b",
  });
  const third = files.write("third", configOf("b"));
  const paths = [files.path("missing"), files.write("empty", ""), first, second, third];
  assertEquals(readKubeconfig(paths).cluster.server, "https://b:6443");
  assertEquals(readKubeconfig(paths, "a"), { cluster: { server: "https://a:6443" }, user: { token: "token of a" } });
});

Deno.test("kubeconfig: relative paths start at the folder of their file", () => {
  using files = new Files();
  const exec = { command: "bin/login" };
  const user = { "client-certificate": "c.crt", "client-key": "/abs/c.key", tokenFile: "../token", exec };
  const a = files.write("a/config", configOf("a", { "certificate-authority": "pki/ca.crt" }, user));
  const b = files.write("b/config", configOf("b", {}, { exec: { command: "aws" } }));
  const { token: _, ...found } = readKubeconfig([b, a], "a").user;
  assertEquals(found, {
    "client-certificate": files.path("a/c.crt"),
    "client-key": "/abs/c.key",
    tokenFile: files.path("token"),
    exec: { command: files.path("a/bin/login") },
  });
  assertEquals(readKubeconfig([a]).cluster["certificate-authority"], files.path("a/pki/ca.crt"));
  assertEquals(readKubeconfig([b]).user.exec?.command, "aws"); // is looked up in the PATH
});

Deno.test("kubeconfig: a file that can't be used is refused with a reason", () => {
  using files = new Files();
  const refused = (content: unknown, reason: string, context?: string) => {
    const path = files.write("config", content);
    const error = assertThrows(() => readKubeconfig([path], context), Error);
    assertStringIncludes(error.message, `Cannot use kubeconfig ${path}: `);
    assertStringIncludes(error.message, reason);
    assertEquals(codeOf(error), "WQ_CONFIG");
  };
  refused("{", "");
  refused({}, "it has no current-context");
  const missing = assertThrows(() => readKubeconfig([files.path("none")]), Error);
  assertStringIncludes(missing.message, "none: there is no such file");
  refused(configOf("a"), 'there is no context "b". It has: a', "b");
  refused({ ...configOf("a"), users: [] }, 'there is no user "a"');
  refused({ ...configOf("a"), clusters: [] }, 'there is no cluster "a"');
  refused(configOf("a", { server: "localhost:8080" }), 'the server of "a" must be a URL');
  refused(configOf("a", { "proxy-url": "http://proxy" }), `'proxy-url' of the context "a" is not supported`);
  refused(configOf("a", {}, { "auth-provider": { name: "gcp" } }), "'auth-provider'");
  refused(configOf("a", {}, { as: "somebody" }), "'as'");
});

Deno.test("environment: KUBECONFIG, then the service account, then the home folder", () => {
  using files = new Files();
  const account = files.path("account");
  const [a, b] = [files.write("a", configOf("a")), files.write("b", configOf("b"))];
  const home = files.path("home");
  const serverOf = (env: Record<string, string>, context?: string) => accessOf(env, context, account).cluster.server;
  const pod = { KUBERNETES_SERVICE_HOST: "10.0.0.1", KUBERNETES_SERVICE_PORT: "443" };

  const nothing = assertThrows(
    () => serverOf({ ...pod, HOME: home }),
    Error,
    "KUBECONFIG is not set, this is not a pod",
  );
  assertEquals(codeOf(nothing), "WQ_CONFIG");
  files.write("home/.kube/config", configOf("home"));
  assertEquals(serverOf({ ...pod, HOME: home }), "https://home:6443");
  files.write("account/token", "t");
  assertEquals(serverOf({ HOME: home }), "https://home:6443");
  assertEquals(accessOf({ ...pod, HOME: home }, undefined, account), {
    cluster: { server: "https://10.0.0.1:443", "certificate-authority": `${account}/ca.crt` },
    user: { tokenFile: `${account}/token` },
  });
  assertEquals(serverOf({ ...pod, KUBERNETES_SERVICE_HOST: "fd00::1" }), "https://[fd00::1]:443");
  assertEquals(serverOf({ ...pod, HOME: home }, "home"), "https://home:6443");
  const KUBECONFIG = [a, "", b].join(delimiter);
  assertEquals(serverOf({ ...pod, HOME: home, KUBECONFIG }), "https://a:6443");
  assertEquals(serverOf({ ...pod, KUBECONFIG }, "b"), "https://b:6443");
});
