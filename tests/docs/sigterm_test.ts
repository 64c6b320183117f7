/** README's way to end on SIGTERM, in the case it is for: a handler takes longer than the orchestrator waits. */

import { assertEquals, assertStringIncludes } from "@std/assert";
import { build, stop } from "esbuild";
import { fileURLToPath } from "node:url";
import { runtimes } from "../runtimes.ts";

const ROOT = new URL("../..", import.meta.url);

/** Handlers that take too long. */
const HANDLERS = {
  "looks at its signal":
    "(_key, { signal }) => new Promise((_, reject) => signal.onabort = () => reject(signal.reason))",
  "does not look at its signal": "() => new Promise(() => setInterval(() => {}, 1000))",
};

/** The program, with another handler and less time for it. */
function recipe(handler: string): string {
  const readme = Deno.readTextFileSync(new URL("README.md", ROOT));
  const [, program] = /```ts\n((?:(?!```)[^])*?process\.once\("SIGTERM"[^]*?)```/.exec(readme)!;
  const changed = program!.replace("(key) => console.log(key)", handler).replace("20_000", "100");
  assertStringIncludes(changed, handler);
  assertStringIncludes(changed, ", 100)");
  return changed;
}

async function bundled(program: string): Promise<string> {
  const { outputFiles } = await build({
    stdin: { contents: program, loader: "ts", resolveDir: fileURLToPath(ROOT) },
    alias: { "@workqueue/core": fileURLToPath(new URL("mod.ts", ROOT)) },
    external: ["node:*"],
    bundle: true,
    format: "esm",
    write: false,
  });
  await stop();
  return outputFiles[0]!.text;
}

const commands: Record<string, () => Promise<string[]>> = { ...runtimes, Node: () => Promise.resolve(["node"]) };

for (const [runtime, command] of Object.entries(commands)) {
  for (const [how, handler] of Object.entries(HANDLERS)) {
    Deno.test({
      name: `README on ${runtime}: a drain that takes too long ends, and so does the process, if a handler ${how}`,
      ignore: Deno.build.os === "windows", // where there is no SIGTERM
      fn: async () => {
        const file = await Deno.makeTempFile({ prefix: "workqueue_", suffix: ".mjs" });
        try {
          await Deno.writeTextFile(file, await bundled(recipe(handler)));
          const [executable, ...args] = await command();
          const { code, stderr } = await new Deno.Command(executable!, {
            args: [...args, file],
            env: { NO_COLOR: "1" },
            stdin: "null",
            signal: AbortSignal.timeout(300_000), // guards against a process that never ends
          }).output();
          const printed = new TextDecoder().decode(stderr);
          assertEquals(code, 1, printed);
          assertStringIncludes(printed, "some work was left undone");
        } finally {
          await Deno.remove(file);
        }
      },
    });
  }
}
