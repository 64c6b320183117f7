/** Tests of credentials: tokens, certificates, passwords and commands, and their renewal. */

import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import { FakeTime } from "@std/testing/time";
import { readFileSync, rmSync } from "node:fs";
import { Credentials } from "../../../packages/kubernetes/client/credentials.ts";
import type { ClusterConfig, ExecConfig, UserConfig } from "../../../packages/kubernetes/client/kubeconfig.ts";
import { Files } from "./files.ts";

const V1 = "client.authentication.k8s.io/v1";
const V1BETA1 = "client.authentication.k8s.io/v1beta1";

function credentialsOf(user: UserConfig, cluster: ClusterConfig = {}): Credentials {
  return new Credentials({ cluster: { server: "https://a", ...cluster }, user });
}

function bearer(token: string): Record<string, string> {
  return { authorization: `Bearer ${token}` };
}

const base64 = (text: string) => btoa(text);

Deno.test("credentials: requests have a token, a password, or neither", async () => {
  assertEquals(await credentialsOf({ token: "t" }).headers(), bearer("t"));
  assertEquals(await credentialsOf({ username: "a", password: "b:c" }).headers(), { authorization: "Basic YTpiOmM=" });
  assertEquals(await credentialsOf({ username: "a", token: "t" }).headers(), bearer("t"));
  assertEquals(await credentialsOf({}).headers(), {});
});

Deno.test("credentials: certificates come from the data, or else from files", async () => {
  using files = new Files();
  const cluster = {
    "certificate-authority": files.write("ca", "ca of a file"),
    "tls-server-name": "kubernetes",
  };
  const user = { "client-certificate": files.write("crt", "cert"), "client-key": files.write("key", "key") };
  const tls = { ca: "ca of a file", cert: "cert", key: "key", servername: "kubernetes", rejectUnauthorized: true };
  assertEquals(await credentialsOf(user, cluster).tls(), tls);
  const data = { "client-certificate-data": base64("other"), "client-key-data": base64("other key") };
  assertEquals(
    await credentialsOf({ ...user, ...data }, { ...cluster, "certificate-authority-data": base64("data") }).tls(),
    { ...tls, ca: "data", cert: "other", key: "other key" },
  );
  assertEquals(await credentialsOf({}, { "insecure-skip-tls-verify": true }).tls(), { rejectUnauthorized: false });
});

Deno.test("credentials: files are read again after ten seconds, or after a refresh", async () => {
  using time = new FakeTime();
  using files = new Files();
  const tokenFile = files.write("token", "first\n");
  const credentials = credentialsOf({ token: "t", tokenFile }, { "certificate-authority": files.write("ca", "1") });
  const before = await credentials.tls();
  assertEquals(await credentials.headers(), bearer("first"));
  files.write("token", "second");
  files.write("ca", "2");
  time.tick(9999);
  assertEquals(await credentials.headers(), bearer("first"));
  assertEquals(await credentials.tls() === before, true);
  time.tick(1);
  assertEquals(await credentials.headers(), bearer("second"));
  assertEquals((await credentials.tls()).ca, "2");
  files.write("token", "third");
  credentials.refresh();
  assertEquals(await credentials.headers(), bearer("third"));
  rmSync(tokenFile);
  credentials.refresh();
  assertEquals(await credentials.headers(), bearer("third")); // a file that is being replaced
  await assertRejects(() => credentialsOf({ tokenFile }).headers(), Error, "token");
});

/** Command that prints the file `output`, and notes each run in the file `runs`. */
class Login extends Files {
  readonly exec: ExecConfig = {
    apiVersion: V1,
    command: "sh",
    args: ["-c", `echo "$KUBERNETES_EXEC_INFO" >> "$FOLDER/runs"; cat "$FOLDER/output"`],
    env: [{ name: "FOLDER", value: this.folder }],
    interactiveMode: "IfAvailable",
  };

  print(status: object, apiVersion = V1): void {
    this.write("output", { apiVersion, kind: "ExecCredential", status });
  }

  /** Inputs that the runs of the command received. */
  get runs(): unknown[] {
    return readFileSync(this.path("runs"), "utf8").trim().split("\n").map((line) => JSON.parse(line));
  }
}

Deno.test("exec: a command's token is used until it expires, or the server refuses it", async () => {
  using time = new FakeTime();
  using login = new Login();
  const credentials = credentialsOf({ exec: login.exec });
  login.print({ token: "1", expirationTimestamp: new Date(Date.now() + 60_000).toISOString() });
  const both = await Promise.all([credentials.headers(), credentials.headers(), credentials.tls()]);
  assertEquals(both.slice(0, 2), [bearer("1"), bearer("1")]);
  login.print({ token: "2" });
  time.tick(59_999);
  assertEquals(await credentials.headers(), bearer("1"));
  time.tick(1);
  assertEquals(await credentials.headers(), bearer("2"));
  login.print({ token: "3" });
  credentials.refresh(); // a request with the token before was refused
  assertEquals(await credentials.headers(), bearer("2"));
  time.tick(10_000);
  credentials.refresh();
  assertEquals(await credentials.headers(), bearer("3"));
  const info = { apiVersion: V1, kind: "ExecCredential", spec: { interactive: false } };
  assertEquals(login.runs, [info, info, info]);
});

Deno.test("exec: a command may print a certificate, and receive the cluster", async () => {
  using login = new Login();
  login.print({ clientCertificateData: "cert", clientKeyData: "key" }, V1BETA1);
  const exec = { ...login.exec, apiVersion: V1BETA1, provideClusterInfo: true };
  const extensions = [{ name: "client.authentication.k8s.io/exec", extension: { audience: "x" } }];
  const cluster = { "certificate-authority": login.write("ca", "ca"), extensions };
  const credentials = credentialsOf({ exec }, cluster);
  assertEquals(await credentials.tls(), { ca: "ca", cert: "cert", key: "key", rejectUnauthorized: true });
  assertEquals(await credentials.headers(), {});
  const told = { server: "https://a", "certificate-authority-data": base64("ca"), config: { audience: "x" } };
  assertEquals(login.runs, [
    { apiVersion: V1BETA1, kind: "ExecCredential", spec: { interactive: false, cluster: told } },
  ]);
});

Deno.test("exec: a failure shows the command, the reason and the hint, and the command runs again", async () => {
  using login = new Login();
  const fails = async (exec: ExecConfig, ...parts: string[]) => {
    const error = await assertRejects(() => credentialsOf({ exec }).headers(), Error, "Cannot get credentials from");
    for (const part of parts) assertEquals([part, error.message.includes(part)], [part, true]);
  };
  const args = ["-c", "echo first >&2; echo not logged in >&2; exit 3"];
  await fails({ ...login.exec, args, installHint: "Install it." }, "'sh': not logged in. Install it.");
  await fails(
    { ...login.exec, command: "no-such-command-here", installHint: "Install it." },
    "there is no such command. Install it.",
  );
  await fails({ ...login.exec, args: ["-c", "echo no"] }, "its output is not JSON");
  const credentials = credentialsOf({ exec: login.exec });
  login.print({ token: "t" }, V1BETA1);
  await assertRejects(() => credentials.headers(), Error, `its output is not of ${V1}`);
  for (const status of [{}, { clientKeyData: "key" }, { token: "t", clientKeyData: "key" }]) {
    login.print(status);
    await assertRejects(() => credentials.headers(), Error, "it printed neither a token nor a certificate and key");
  }
  login.print({ token: "t" });
  assertEquals(await credentials.headers(), bearer("t"));
});

Deno.test("exec: a command that can't work is refused at once", () => {
  const refused = (exec: ExecConfig, reason: string) => assertThrows(() => credentialsOf({ exec }), Error, reason);
  refused({ apiVersion: V1 }, "its command is missing");
  refused({ command: "a", apiVersion: "client.authentication.k8s.io/v1alpha1" }, `its apiVersion must be ${V1} or`);
  refused({ command: "a", apiVersion: V1, interactiveMode: "Always" }, "it needs a terminal");
});
