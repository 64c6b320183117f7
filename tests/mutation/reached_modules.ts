/** Modules that each test file imports, directly or indirectly. */

import { relative } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

interface Module {
  readonly specifier: string;
  readonly dependencies?: readonly { readonly code?: { readonly specifier?: string } }[];
}

/** Returns the files of the repository that each test file loads. */
export async function reachedBy(tests: readonly string[]): Promise<Map<string, Set<string>>> {
  // One file imports all tests, so that all modules form one graph.
  const entry = await Deno.makeTempFile({ prefix: "workqueue_", suffix: ".ts" });
  try {
    await Deno.writeTextFile(entry, tests.map((test) => `import "${pathToFileURL(ROOT + test)}";\n`).join(""));
    const args = ["info", "--json", "--no-lock", "--config", "deno.all.json", entry];
    const { success, stdout } = await new Deno.Command(Deno.execPath(), { args, cwd: ROOT, stderr: "inherit" })
      .output();
    if (!success) throw new Error("Cannot read the graph of modules");
    const { modules } = JSON.parse(new TextDecoder().decode(stdout)) as { modules: Module[] };
    const imports = new Map<string, string[]>();
    for (const { specifier, dependencies = [] } of modules) {
      imports.set(specifier, dependencies.flatMap(({ code }) => code?.specifier ?? []));
    }
    return new Map(tests.map((test) => [test, reachedFrom(pathToFileURL(ROOT + test).href, imports)]));
  } finally {
    await Deno.remove(entry);
  }
}

function reachedFrom(start: string, imports: ReadonlyMap<string, readonly string[]>): Set<string> {
  const reached = new Set([start]);
  for (const module of reached) for (const next of imports.get(module) ?? []) reached.add(next);
  const files = [...reached].filter((module) => module.startsWith("file:")).map((module) => fileURLToPath(module));
  return new Set(files.map((file) => relative(ROOT, file).replaceAll("\\", "/")));
}
