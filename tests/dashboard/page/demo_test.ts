/**
 * Tests of the demo on each runtime: the demo's three problems appear on the page. Runs only on Deno and starts the
 * other runtimes.
 */

import { assertEquals } from "@std/assert";
import { type ChildProcess, spawn } from "node:child_process";
import { copyFileSync, writeFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { bundle } from "../../bundle.ts";
import { Project } from "../../installs/project.ts";
import { EVERY } from "../../every.ts";
import { runtimes } from "../../runtimes.ts";
import { browserTest, visit } from "./visitor.ts";

const DEMO = new URL("../../../packages/dashboard/demo/", import.meta.url);
const SCRIPT = fileURLToPath(new URL("main.ts", DEMO));

/** Running demo that has printed the URL of its page. */
class Demo implements AsyncDisposable {
  readonly url: string;
  readonly #process: ChildProcess;

  private constructor(url: string, process: ChildProcess) {
    this.url = url;
    this.#process = process;
  }

  static async start([file, ...args]: string[]): Promise<Demo> {
    const process = spawn(file!, [...args, "0"], { stdio: ["ignore", "pipe", "inherit"] });
    for await (const line of createInterface(process.stdout!)) return new Demo(line.split(" ")[0]!, process);
    throw new Error(`${file} ${args} ended without a word`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const ended = new Promise((resolve) => this.#process.once("close", resolve));
    this.#process.kill("SIGKILL");
    this.#process.stdout!.destroy();
    await ended;
  }
}

/** Bundles the demo in a folder for Node, because some versions of Node can't run TypeScript. */
async function bundled(folder: Project): Promise<string[]> {
  const script = folder.path("demo.mjs");
  const banner = { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" };
  // The first matching alias is used. The UMD build of jsonc-parser can't be bundled.
  const fileOf = (name: string) => fileURLToPath(import.meta.resolve(name)).replace("/lib/umd/", "/lib/esm/");
  const packages = ["@hono/node-server", "hono/ws", "hono", "jsonc-parser", "smol-toml", "yaml"];
  const alias = Object.fromEntries(packages.map((name) => [name, fileOf(name)]));
  writeFileSync(script, await bundle({ entryPoints: [SCRIPT], platform: "node", alias, banner }));
  copyFileSync(new URL("demo.yaml", DEMO), folder.path("demo.yaml"));
  return ["node", script];
}

const commands: Record<string, (folder: Project) => Promise<string[]>> = {
  Deno: async () => [...await runtimes["Deno"]!(), SCRIPT],
  ...EVERY && { Bun: async () => [...await runtimes["Bun"]!(), SCRIPT], Node: bundled },
};

for (const [runtime, command] of Object.entries(commands)) {
  browserTest(
    `demo on ${runtime}: an outage, a poison item and a hot tenant are found, and a queue is paused`,
    async () => {
      using folder = new Project();
      await using demo = await Demo.start(await command(folder));
      await using visitor = await visit(demo.url);
      await visitor.sees(/attempts failed in the last .* the payment gateway is down/, visitor.row("payments"));
      await visitor.sees(/"globex" has \d+ % of the ready items/, visitor.row("thumbnails"));
      await visitor.sees(/"initech\/1042" failed \d+ times: TypeError/, visitor.row("invoices"));
      assertEquals(await visitor.row("mails").locator(".verdict").innerText(), "healthy");

      await visitor.row("mails").getByRole("link", { name: "mails" }).click();
      await visitor.button("Pause").click();
      await visitor.sees("is paused", visitor.result());
      await visitor.button("Resume").waitFor();
      await visitor.page.goBack();
      await visitor.sees("nothing is handed out until work is resumed", visitor.row("mails"));
    },
  );
}

for (const [runtime, command] of Object.entries(commands)) {
  Deno.test(`demo on ${runtime}: a port in use is reported in one line`, async () => {
    using folder = new Project();
    const [file, ...args] = await command(folder);
    using taken = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    const { port } = taken.addr as Deno.NetAddr;
    const { code, stdout, stderr } = await new Deno.Command(file!, { args: [...args, String(port)] }).output();
    assertEquals([code, new TextDecoder().decode(stdout), new TextDecoder().decode(stderr)], [
      1,
      "",
      `Cannot listen on 127.0.0.1:${port}: the port is in use. ` +
      "Pass another port, or 0 for any free port: npx -y deno task demo:dashboard 0\n",
    ]);
  });
}
