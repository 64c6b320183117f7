/** Tests of `deno task playground`. Runs only on Deno, because the task does. */

import { assertEquals, assertStringIncludes } from "@std/assert";
import { fileURLToPath } from "node:url";
import { playgroundFiles } from "../../../docs/playground/build.ts";
import { runtimes } from "../../runtimes.ts";

const SCRIPT = fileURLToPath(new URL("../../../docs/playground/serve.ts", import.meta.url));

/** Returns the script as a command that has not started. */
async function command(...options: string[]): Promise<Deno.Command> {
  const [file, ...args] = await runtimes["Deno"]!();
  return new Deno.Command(file!, { args: [...args, SCRIPT, ...options], stdout: "piped", stderr: "piped" });
}

/** Runs the script to its end. */
async function run(...options: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  const { code, stdout, stderr } = await (await command(...options)).output();
  return { code, stdout: new TextDecoder().decode(stdout), stderr: new TextDecoder().decode(stderr) };
}

Deno.test("playground: serves its files on loopback, only to GET and HEAD", async () => {
  const process = (await command("--port", "0")).spawn();
  try {
    let line = "";
    for await (const text of process.stdout.pipeThrough(new TextDecoderStream())) {
      line += text;
      if (line.includes("\n")) break;
    }
    const url = /http:\/\/127\.0\.0\.1:\d+\//.exec(line)![0];
    const files = await playgroundFiles();
    const get = async (path: string, method = "GET") => {
      const response = await fetch(url + path, { method });
      return [response.status, await response.text(), response.headers.get("content-type")];
    };
    const page = [200, files["index.html"], "text/html; charset=utf-8"];
    assertEquals(await get(""), page);
    assertEquals(await get("?from=a%20link"), page);
    assertEquals(await get("index.html"), page);
    for (const name of ["playground.js", "simulation.js"] as const) {
      const [status, script, type] = await get(name);
      assertEquals([status, String(script).length, type], [
        200,
        files[name].length, // two builds can differ in the short names that esbuild chooses
        "text/javascript; charset=utf-8",
      ]);
    }
    assertEquals((await get("", "HEAD")).slice(0, 2), [200, ""]);
    for (const path of ["main.ts", "%2e%2e/deno.json", "constructor"]) {
      assertEquals((await get(path))[0], 404);
    }
    for (const method of ["POST", "PUT", "DELETE"]) assertEquals((await get("", method))[0], 405);
  } finally {
    process.kill("SIGKILL");
    await process.stderr.cancel();
    await process.status;
  }
});

Deno.test("playground: reports a port in use in one line", async () => {
  using taken = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = taken.addr as Deno.NetAddr;
  assertEquals(await run("--port", String(port)), {
    code: 1,
    stdout: "",
    stderr: `Cannot listen on 127.0.0.1:${port}: the port is in use. Pass another one with '--port'\n`,
  });
});

Deno.test("playground: refuses options that can't be used", async () => {
  const refused: [string[], string][] = [
    [["--port", "many"], "'--port' must be an integer from 0 (any free port) to 65535, got 'many'"],
    [["--port", "65536"], "'--port' must be an integer from 0 (any free port) to 65535, got '65536'"],
    [["--port", ""], "'--port' must be an integer from 0 (any free port) to 65535, got ''"],
    [["--out", ""], "'--out' must be the path of a folder, got ''"],
    [["--port", "1", "--out", "a"], "'--port' and '--out' exclude each other"],
    [["--out", SCRIPT], `Cannot write to '${SCRIPT}': `],
    [["--host", "a"], "--host"],
  ];
  for (const [options, message] of refused) {
    const { code, stdout, stderr } = await run(...options);
    assertEquals([code, stdout], [1, ""], options.join(" "));
    assertStringIncludes(stderr, message);
    assertEquals(stderr.trimEnd().split("\n").length, 1);
  }
});

Deno.test("playground: writes three files for a host of static files", async () => {
  const folder = await Deno.makeTempDir({ prefix: "playground_" });
  try {
    assertEquals((await run("--out", `${folder}/new/site`)).code, 0);
    const written: Record<string, string> = {};
    for (const { name } of Deno.readDirSync(`${folder}/new/site`)) {
      written[name] = await Deno.readTextFile(`${folder}/new/site/${name}`);
    }
    const lengths = (files: Record<string, string>) => Object.values(files).map(({ length }) => length).sort();
    assertEquals(Object.keys(written).sort(), ["index.html", "playground.js", "simulation.js"]);
    assertEquals(lengths(written), lengths(await playgroundFiles()));
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
