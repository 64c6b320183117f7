/** Tests of the SIGTERM program in `docs/shutdown.md` with handlers that exceed the allowed time. */

import { assertEquals, assertStringIncludes } from "@std/assert";
import { build, stop } from "esbuild";
import { fileURLToPath } from "node:url";
import { runtimes } from "../runtimes.ts";

const ROOT = new URL("../..", import.meta.url);

const UNTIL_ABORT = "(_key, { signal }) => new Promise((_, reject) => signal.onabort = () => reject(signal.reason))";

/** Handlers that take too long, each with the options of its pool. */
const HANDLERS: Record<string, [handler: string, options: string]> = {
  "looks at its signal": [UNTIL_ABORT, ""],
  "looks at its signal and has no retry left": [UNTIL_ABORT, "maxRetries: 0,"],
  "does not look at its signal": ["() => new Promise(() => setInterval(() => {}, 1000))", ""],
};

/** Returns the page's program with the given handler and options, and with a shorter time limit. */
function recipe(handler: string, options: string): string {
  const page = Deno.readTextFileSync(new URL("docs/shutdown.md", ROOT));
  const [, program] = /```ts\n((?:(?!```)[^])*?process\.once\("SIGTERM"[^]*?)```/.exec(page)!;
  const signal = "signal: tooLong.signal,\n";
  const changed = program!.replace("(key) => console.log(key)", handler).replace("25_000", "100")
    .replace(signal, signal + options);
  for (const part of [handler, ", 100)", signal + options]) assertStringIncludes(changed, part);
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
  for (const [how, [handler, options]] of Object.entries(HANDLERS)) {
    Deno.test({
      name:
        `docs/shutdown.md on ${runtime}: a drain that takes too long ends, and so does the process, if a handler ${how}`,
      ignore: Deno.build.os === "windows", // Windows has no SIGTERM
      fn: async () => {
        const folder = await Deno.makeTempDir({ prefix: "workqueue_" });
        const file = `${folder}/program.mjs`;
        try {
          await Deno.writeTextFile(file, await bundled(recipe(handler, options)));
          const [executable, ...args] = await command();
          const { code, stderr } = await new Deno.Command(executable!, {
            args: [...args, file],
            cwd: folder,
            env: { NO_COLOR: "1" },
            stdin: "null",
            signal: AbortSignal.timeout(300_000), // timeout, in case the process never ends
          }).output();
          const printed = new TextDecoder().decode(stderr);
          assertEquals(code, 1, printed);
          assertStringIncludes(printed, "some work was left undone");
          assertEquals(await Deno.readTextFile(`${folder}/left.json`), '["a"]');
        } finally {
          await Deno.remove(folder, { recursive: true });
        }
      },
    });
  }
}
