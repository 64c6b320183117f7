/** Empty folder in which a user installs the package and uses all its entry points. */

import { cpSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import manifest from "../../deno.json" with { type: "json" };
import { NPM, ROOT, run } from "../../release/commands.ts";
import { packedOnce } from "../../release/packed.ts";
import type { Findings } from "./consumer.ts";

export { manifest };
export { NPM, ROOT, run };

/** Temporary folder, which is removed when the project is disposed. */
export class Project implements Disposable {
  readonly folder = Deno.makeTempDirSync({ prefix: "workqueue_" });

  [Symbol.dispose](): void {
    Deno.removeSync(this.folder, { recursive: true });
  }

  path(file: string): string {
    return join(this.folder, file);
  }

  /** Runs a command in the folder and returns its output. */
  async run(command: string, args: string[], env?: Record<string, string>): Promise<string> {
    return (await run(command, args, this.folder, env)).stdout;
  }

  /** Packs packages of the clone and their dependencies into this folder, with the task that the pages describe. */
  async pack(...packages: string[]): Promise<void> {
    await packInto(this.folder, packages);
  }

  /** Installs the core in this folder with npm, from a tarball. In a run of all tests, npm installs it once. */
  async npmInstall(): Promise<void> {
    const installed = await packedOnce("core installed by npm", async (folder) => {
      await packInto(folder, ["."]);
      Deno.writeTextFileSync(join(folder, "package.json"), '{ "type": "module" }');
      await run(NPM, ["install", "--offline", "--no-audit", "--no-fund", "./workqueue-core.tgz"], folder);
    });
    cpSync(installed, this.folder, { recursive: true });
  }

  /** Writes `main.ts`, which imports every entry point of the package and prints the results of `consumer.ts`. */
  writeConsumer(packageName: string = manifest.name): void {
    const entries = Object.keys(manifest.exports);
    const imports = entries.map((entry, i) => `import * as entry${i} from "${packageName}${entry.slice(1)}";\n`);
    const fields = entries.map((entry, i) => `"${entry}": entry${i}`);
    Deno.copyFileSync(new URL("consumer.ts", import.meta.url), this.path("consumer.ts"));
    Deno.writeTextFileSync(
      this.path("main.ts"),
      `import { consume } from "./consumer.ts";
${imports.join("")}
console.log(JSON.stringify(await consume({ ${fields.join(", ")} })));
`,
    );
  }
}

async function packInto(target: string, packages: readonly string[]): Promise<void> {
  const args = ["task", "--cwd", fileURLToPath(ROOT), "pack", ...packages];
  const packed = await packedOnce(`from a clone ${packages.join()}`, async (folder) => {
    // Overrides `INIT_CWD`, which this process may have inherited from the task that runs the tests.
    await run(Deno.execPath(), args, folder, { INIT_CWD: folder });
  });
  for (const { name } of Deno.readDirSync(packed)) Deno.copyFileSync(join(packed, name), join(target, name));
}

/** Returns the results that the program must print after every kind of installation. */
export async function expectedFindings(): Promise<Findings> {
  const exports: Record<string, string[]> = {};
  for (const [entry, file] of Object.entries(manifest.exports)) {
    exports[entry] = Object.keys(await import(new URL(file, ROOT).href)).sort();
  }
  return {
    attempts: ["a 1", "b 1", "b 2"],
    errors: ["Error: a hiccup"],
    timersHaveTheirTurn: true,
    exports,
    copies: ["./throttles bucket", "./throttles/bucket bucket"], // throttles that have the name of a limiter
  };
}
