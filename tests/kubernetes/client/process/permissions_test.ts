/** Tests of the permissions that a client needs on Deno: those in the comment of `Client.fromEnvironment`, no fewer. */

import { assertEquals, assertStringIncludes } from "@std/assert";
import { fileURLToPath } from "node:url";
import { ALL_PACKAGES } from "../../../runtimes.ts";
import { ApiServer } from "../api_server.ts";
import { Files } from "../files.ts";

const program = fileURLToPath(new URL("program.ts", import.meta.url));

/** Runs the program with these permissions. Returns its output, or its error. */
async function run(permissions: readonly string[], env: Record<string, string>, ...args: string[]): Promise<string> {
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "--quiet", "--no-prompt", "--config", ALL_PACKAGES, ...permissions, program, ...args],
    env: { NO_COLOR: "1", KUBECONFIG: "", ...env },
  });
  const { success, stdout, stderr } = await child.output();
  return new TextDecoder().decode(success ? stdout : stderr);
}

/** Runs the program with all of these permissions, and without each of them, and without each of the variables. */
async function needs(
  variables: readonly string[],
  others: readonly string[],
  env: Record<string, string>,
  ...args: string[]
): Promise<string> {
  const allowEnv = (names: readonly string[]) => `--allow-env=${["NONE", ...names]}`;
  const without = <T>(values: readonly T[], value: T) => values.filter((other) => other !== value);
  await Promise.all([
    ...variables.map(async (name) => {
      const output = await run([allowEnv(without(variables, name)), ...others], env, ...args);
      assertStringIncludes(output, `Requires env access to "${name}"`);
    }),
    ...others.map(async (permission) => {
      const output = await run([allowEnv(variables), ...without(others, permission)], env, ...args);
      assertStringIncludes(output, permission.startsWith("--allow-read") ? "Requires read access" : "EPERM");
    }),
  ]);
  return await run([allowEnv(variables), ...others], env, ...args);
}

Deno.test("permissions: a client of a kubeconfig needs the documented ones, and no others", async () => {
  await using server = await ApiServer.start((request, response) => {
    response.end(request.url === "/watch" ? '{"type":"ADDED"}\n' : '{"major":"1"}');
  });
  using files = new Files();
  const KUBECONFIG = files.write("config", {
    "current-context": "a",
    clusters: [{ name: "a", cluster: { server: server.url } }],
    users: [{ name: "a", user: { tokenFile: "token" } }],
    contexts: [{ name: "a", context: { cluster: "a", user: "a" } }],
  });
  files.write("token", "t");
  const variables = ["KUBECONFIG", "LOG_TOKENS", "LOG_STREAM"];
  const others = [`--allow-read=${files.folder}`, `--allow-net=${new URL(server.url).host}`];
  assertEquals(await needs(variables, others, { KUBECONFIG }, files.folder), '{"major":"1"}\n{"type":"ADDED"}\n');
});

Deno.test("permissions: a client in a pod needs the documented ones, and no others", async () => {
  using files = new Files();
  files.write("token", "t");
  files.write("ca.crt", "ca");
  const variables = ["KUBECONFIG", "KUBERNETES_SERVICE_HOST", "KUBERNETES_SERVICE_PORT"];
  const env = { KUBERNETES_SERVICE_HOST: "10.0.0.1", KUBERNETES_SERVICE_PORT: "443" };
  const found = [{ authorization: "Bearer t" }, { ca: "ca", rejectUnauthorized: true }];
  assertEquals(
    await needs(variables, [`--allow-read=${files.folder}`], env, files.folder, "pod"),
    `${JSON.stringify(found)}\n`,
  );
});
