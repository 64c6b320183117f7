/**
 * Tests of processes that connect to a server. Such a process exits when its work is done. If Deno permissions are
 * missing, the error names them. Runs only on Deno, which starts the other runtimes.
 */

import { assert, assertEquals, assertMatch } from "@std/assert";
import { fileURLToPath } from "node:url";
import { runScript, RUNTIMES } from "../../run_script.ts";
import { freePort } from "../../keeper.ts";
import { ALL_PACKAGES } from "../../runtimes.ts";
import { Authority, HAS_OPENSSL } from "../certificates.ts";
import { redisTest, serverTest } from "../redis_tests.ts";
import { RedisServer } from "../server.ts";

const script = new URL("call_once.ts", import.meta.url);

/** Runs the script on Deno with these permissions. Returns the printed lines, sorted. */
async function printedWith(permissions: string[], ...args: string[]): Promise<string[]> {
  const command = new Deno.Command(Deno.execPath(), {
    args: ["run", "--config", ALL_PACKAGES, "--no-prompt", ...permissions, fileURLToPath(script), ...args],
    stderr: "inherit",
  });
  const { stdout } = await command.output();
  return new TextDecoder().decode(stdout).trim().split("\n").sort();
}

for (const runtime of RUNTIMES) {
  redisTest(`process: on ${runtime}, it ends after the connection was given back`, async ({ url }) => {
    for (const by of ["url", "client"]) {
      assertEquals((await runScript(runtime, script, url, by)).sort(), ["42", "listening"]);
    }
  });

  serverTest(
    `process: on ${runtime}, it ends whether the server refuses or accepts its certificate`,
    async () => {
      if (!HAS_OPENSSL) return;
      using authority = new Authority();
      using other = new Authority();
      const port = await freePort();
      await using _server = await RedisServer.start({ args: ["--tls-port", `${port}`, ...authority.signServer()] });
      const url = `rediss://localhost:${port}`;
      for (const by of [authority, other]) {
        const tls = { ca: authority.ca, ...by.sign("client", "extendedKeyUsage=clientAuth") };
        const printed = await runScript(runtime, script, url, JSON.stringify({ tls }));
        const refusal =
          `Cannot reach Redis at localhost:${port}: the server does not accept the certificate in 'tls.cert'`;
        assertEquals(printed.sort(), by === authority ? ["42", "listening"] : [refusal, refusal]);
      }
    },
  );

  serverTest(`process: on ${runtime}, it ends when the server is away or hangs`, async () => {
    await using server = await RedisServer.start();
    await server.kill("SIGSTOP");
    for (const printed of await runScript(runtime, script, server.url, "url", "100")) {
      assertMatch(printed, /^Cannot reach Redis at 127\.0\.0\.1:\d+ within 100 ms/);
    }
    await server.kill("SIGKILL");
    for (const printed of await runScript(runtime, script, server.url, "url", "100")) {
      assertMatch(printed, /^Cannot reach Redis at 127\.0\.0\.1:\d+ within 100 ms/);
    }
  });
}

redisTest("process: on Deno, network access is the only permission needed", async ({ url }) => {
  assertEquals(await printedWith([`--allow-net=${new URL(url).host}`], url), ["42", "listening"]);
});

redisTest("process: on Deno, without network access, calls reject at once and name the permission", async ({ url }) => {
  const printed = await printedWith(["--allow-env"], url);
  assertEquals(printed.length, 2);
  for (const line of printed) assertMatch(line, /^Cannot reach Redis at .*: Requires net access to .* --allow-net/);
});

redisTest("process: on Deno, a client without enough permissions says so at once", async ({ url }) => {
  const printed = await printedWith([`--allow-net=${new URL(url).host}`], url, "client");
  assert(printed.some((line) => /^Cannot reach Redis at .*: Requires env access/.test(line)), printed.join("\n"));
});
