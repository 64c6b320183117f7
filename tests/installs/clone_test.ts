/** The package as README takes it from a clone, by README's very commands. Only on Deno, which packs it. */

import { assert, assertEquals } from "@std/assert";
import type { Tokens } from "marked";
import { cpSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { tokensOf } from "../docs/markdown.ts";
import { runtimes } from "../runtimes.ts";
import { Project, ROOT, run } from "./project.ts";

const IGNORE = Deno.build.os === "windows"; // which has no `sh`

const readme = await Deno.readTextFile(new URL("README.md", ROOT));
const section = readme.slice(readme.indexOf("take it from a clone"), readme.indexOf("\n## Concepts"));
const [denoJson, commands, denoJsonOfPackages, packageCommands] = tokensOf(section)
  .filter((token): token is Tokens.Code => token.type === "code")
  .map(({ text }) => text);

/** The command of README that makes the tarball, and the one that is for this runtime. */
function commandsFor(runtime: string): string[] {
  const [pack, ...installs] = commands!.split("\n");
  return [pack!, installs.find((line) => line.includes(`# ${runtime}`))!];
}

const PROGRAM = `
  import { createWorkQueue } from "@workqueue/core";
  const queue = createWorkQueue();
  for (const item of ["a", "b", "a"]) queue.add(item);
  console.log(queue.length, "items");
`;

const REDIS_PROGRAM = `
  import { createRedisQueue } from "@workqueue/redis";
  console.log(createRedisQueue({ name: "images" }).name);
`;

const PACKAGE_PROGRAM = `
  import { createWorkQueue } from "@workqueue/core";
  import { prometheusMetrics } from "@workqueue/prometheus";
  import { register } from "prom-client";
  createWorkQueue({ name: "images", metrics: prometheusMetrics() }).add("cat.jpg");
  console.log((await register.metrics()).match(/^workqueue_depth.*$/m)[0]);
`;

/** A folder that holds `workqueue`, the clone, and `app`, which is empty. */
class Folder extends Project {
  readonly app = this.path("app");

  constructor() {
    super();
    Deno.mkdirSync(this.app);
    const root = fileURLToPath(ROOT);
    const isCloned = (path: string) => !/(^|[\\/])(\.git|node_modules)$/.test(path.slice(root.length));
    cpSync(root, this.path("workqueue"), { recursive: true, filter: isCloned });
  }

  /** Runs README's commands for a runtime. Gives all that they print. */
  async install(runtime: string): Promise<string> {
    const printed = await run("sh", ["-ec", commandsFor(runtime).join("\n")], this.app, await this.#environment());
    return printed.stdout + printed.stderr;
  }

  /** What a program that uses the package prints. */
  async use(command: string[], program = PROGRAM): Promise<string> {
    await Deno.writeTextFile(`${this.app}/main.mjs`, program);
    return (await run(command[0]!, [...command.slice(1), "main.mjs"], this.app)).stdout;
  }

  /** Lets `bun` be found, wherever it is. */
  async #environment(): Promise<Record<string, string>> {
    const [bun] = await runtimes["Bun"]!();
    const folder = this.path("bin");
    await Deno.mkdir(folder);
    await Deno.symlink(bun!, `${folder}/bun`);
    return { PATH: `${folder}:${Deno.env.get("PATH")}` };
  }
}

Deno.test("a clone: Deno takes it by an entry in deno.json, with no network", async () => {
  using folder = new Folder();
  await Deno.writeTextFile(`${folder.app}/deno.json`, denoJson!);
  assertEquals(await folder.use([Deno.execPath(), "run", "--check", "--no-prompt", "--cached-only"]), "2 items\n");
});

Deno.test("a clone: Deno takes the queue on Redis by entries in deno.json", async () => {
  using folder = new Folder();
  const page = await Deno.readTextFile(new URL("docs/redis.md", ROOT));
  await Deno.writeTextFile(`${folder.app}/deno.json`, /```json\n([^]*?)```/.exec(page)![1]!);
  assertEquals(await folder.use([Deno.execPath(), "run", "--check", "--no-prompt"], REDIS_PROGRAM), "images\n");
});

Deno.test("a clone: Deno takes the other packages by links", async () => {
  using folder = new Folder();
  await Deno.writeTextFile(`${folder.app}/deno.json`, denoJsonOfPackages!);
  const printed = await folder.use([Deno.execPath(), "run", "--allow-env", "--no-prompt"], PACKAGE_PROGRAM);
  assertEquals(printed, 'workqueue_depth{name="images"} 1\n');
});

Deno.test({
  name: "a clone: Node installs the other packages beside that of the core",
  ignore: IGNORE,
  fn: async () => {
    using folder = new Folder();
    await run("sh", ["-ec", `${commandsFor("Node")[0]}\n${packageCommands}`], folder.app);
    assertEquals(await folder.use(["node"], PACKAGE_PROGRAM), 'workqueue_depth{name="images"} 1\n');
  },
});

for (const [runtime, start] of [["Bun", async () => (await runtimes["Bun"]!())[0]!], ["Node", () => "node"]] as const) {
  Deno.test({
    name: `a clone: ${runtime} installs what is packed of it, and nothing alarming is printed`,
    ignore: IGNORE,
    fn: async () => {
      using folder = new Folder();
      const lines = (await folder.install(runtime)).split("\n");
      const printed = lines.filter((line) => !line.startsWith("npm ")).join("\n"); // npm warns of the machine's own settings
      assert(!/could not|cannot|error|warn/i.test(printed), printed);
      assertEquals(await folder.use([await start()]), "2 items\n");
    },
  });
}

Deno.test({
  name: "a clone: a mistake in it is printed, and nothing is packed",
  ignore: IGNORE,
  fn: async () => {
    using folder = new Folder();
    await Deno.writeTextFile(folder.path("workqueue/mod.ts"), "export const n: number = '';\n");
    const error = await folder.install("Node").then(() => undefined, (error: unknown) => error);
    assert(error instanceof Error && error.message.includes("is not assignable to type 'number'"), `${error}`);
  },
});
