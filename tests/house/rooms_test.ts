/** Tests of the rule for imports between rooms, including type imports. */

import { assert, assertEquals } from "@std/assert";
import { relative } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { ROOT, run } from "../installs/project.ts";
import { allModules } from "./modules.ts";
import { type Import, offencesOf } from "./rooms.ts";

/** Parses imports of the form `from > to`, or `from > to (specifier)` if the specifier is not a path. */
function importsOf(...lines: string[]): Import[] {
  return lines.map((line) => {
    const [, from, to, specifier] = /^(\S+) > (\S+)(?: \((\S+)\))?$/.exec(line)!;
    return { from: from!, to: to!, specifier: specifier ?? `./${to}` };
  });
}

function offences(...lines: string[]): string[] {
  const imports = importsOf(...lines);
  return offencesOf(imports.map(({ from }) => from), imports);
}

Deno.test("rooms: a room imports itself and what is to its left", () => {
  assertEquals(
    offences(
      "lib/base/errors.ts > lib/base/brands.ts",
      "lib/contracts/queue.ts > lib/base/clock.ts",
      "lib/structures/heap.ts > lib/contracts/queue.ts",
      "lib/tokens/token_bucket.ts > lib/structures/waiters.ts",
      "lib/queue/work_queue.ts > lib/structures/heap.ts",
      "lib/workers/starts.ts > lib/tokens/token_bucket.ts",
      "lib/workers/pool.ts > lib/contracts/queue.ts",
      "registry/fields.ts > lib/base/duration.ts",
      "limiters/bucket.ts > registry/fields.ts",
      "disciplines/fair.ts > registry/fields.ts",
      "config/config.ts > disciplines/fair.ts",
      "config/config.ts > limiters/bucket.ts",
      "mod.ts > config/config.ts",
      "mod.ts > lib/queue/work_queue.ts",
    ),
    [],
  );
  assertEquals(
    offences(
      "lib/base/clock.ts > lib/queue/burst.ts",
      "lib/structures/waiters.ts > lib/tokens/token_bucket.ts",
      "registry/fields.ts > config/json.ts",
      "config/json.ts > mod.ts",
    ),
    [
      'lib/base/clock.ts imports lib/queue/burst.ts as "./lib/queue/burst.ts": lib/queue/ is to the right of lib/base/',
      'lib/structures/waiters.ts imports lib/tokens/token_bucket.ts as "./lib/tokens/token_bucket.ts": ' +
      "lib/tokens/ is to the right of lib/structures/",
      'registry/fields.ts imports config/json.ts as "./config/json.ts": config/ is to the right of registry/',
      'config/json.ts imports mod.ts as "./mod.ts": mod.ts is to the right of config/',
    ],
  );
});

Deno.test("rooms: limiters and disciplines do not see each other", () => {
  assertEquals(offences("limiters/a.ts > disciplines/b.ts", "disciplines/c.ts > limiters/d.ts"), [
    'limiters/a.ts imports disciplines/b.ts as "./disciplines/b.ts": limiters/ and disciplines/ do not see each other',
    'disciplines/c.ts imports limiters/d.ts as "./limiters/d.ts": disciplines/ and limiters/ do not see each other',
  ]);
});

Deno.test("rooms: queue, workers and metrics may import each other, but not in a circle", () => {
  assertEquals(
    offences(
      "lib/queue/a.ts > lib/metrics/b.ts",
      "lib/workers/c.ts > lib/queue/d.ts",
      "lib/workers/c.ts > lib/metrics/b.ts",
    ),
    [],
  );
  assertEquals(
    offences(
      "lib/queue/a.ts > lib/metrics/b.ts",
      "lib/metrics/c.ts > lib/workers/d.ts",
      "lib/workers/e.ts > lib/queue/f.ts",
    ),
    [
      "rooms import each other in a circle: lib/metrics/ → lib/workers/ → lib/queue/ → lib/metrics/, as " +
      'lib/metrics/c.ts imports lib/workers/d.ts as "./lib/workers/d.ts", and ' +
      'lib/workers/e.ts imports lib/queue/f.ts as "./lib/queue/f.ts", and ' +
      'lib/queue/a.ts imports lib/metrics/b.ts as "./lib/metrics/b.ts"',
    ],
  );
});

Deno.test("rooms: no two files import each other in a circle, wherever they are", () => {
  assertEquals(
    offences(
      "tests/a.ts > tests/b.ts",
      "tests/b.ts > tests/c.ts",
      "tests/c.ts > tests/a.ts",
      "tests/d.ts > tests/a.ts",
      "tests/b.ts > tests/d.ts",
      "lib/base/x.ts > lib/base/x.ts",
      "lib/base/y.ts > lib/base/x.ts",
    ),
    [
      "files import each other in a circle: lib/base/x.ts → lib/base/x.ts",
      "files import each other in a circle: tests/a.ts → tests/b.ts → tests/c.ts → tests/a.ts",
      "files import each other in a circle: tests/d.ts → tests/a.ts → tests/b.ts → tests/d.ts",
    ],
  );
});

Deno.test("rooms: nothing imports tests or benchmarks except themselves, and these may import everything", () => {
  assertEquals(
    offences(
      "tests/a_test.ts > tests/helpers.ts",
      "tests/a_test.ts > lib/structures/heap.ts",
      "tests/a_test.ts > docs/generate/files.ts",
      "bench/a_bench.ts > examples/crawler.ts",
      "bench/a_bench.ts > npm:mitata@1 (mitata)",
      "bench/kubernetes/rows.ts > tests/kubernetes/real/cluster.ts",
    ),
    [],
  );
  assertEquals(
    offences(
      "tests/a_test.ts > bench/keys.ts",
      "bench/a_bench.ts > tests/helpers.ts",
      "docs/generate/files.ts > bench/keys.ts",
      "packages/cli/main.ts > tests/helpers.ts",
    ),
    [
      'tests/a_test.ts imports bench/keys.ts as "./bench/keys.ts": nothing outside bench/ imports it',
      'bench/a_bench.ts imports tests/helpers.ts as "./tests/helpers.ts": nothing outside tests/ imports it',
      'docs/generate/files.ts imports bench/keys.ts as "./bench/keys.ts": nothing outside bench/ imports it',
      'packages/cli/main.ts imports tests/helpers.ts as "./tests/helpers.ts": nothing outside tests/ imports it',
    ],
  );
});

Deno.test("rooms: the core imports nothing but rooms", () => {
  assertEquals(
    offences("lib/base/clock.ts > node:process", "mod.ts > docs/generate/files.ts", "mod.ts > packages/cli/main.ts"),
    [
      'lib/base/clock.ts imports node:process as "./node:process": lib/base/ imports nothing but rooms',
      'mod.ts imports docs/generate/files.ts as "./docs/generate/files.ts": mod.ts imports nothing but rooms',
      'mod.ts imports packages/cli/main.ts as "./packages/cli/main.ts": mod.ts imports nothing but rooms',
    ],
  );
});

Deno.test("rooms: a package imports others by their public entries", () => {
  assertEquals(
    offences(
      "packages/cli/main.ts > packages/cli/run.ts",
      "packages/cli/main.ts > mod.ts (@workqueue/core)",
      "packages/cli/main.ts > lib/workers/pool.ts (@workqueue/core/workers)",
      "packages/cli/main.ts > packages/redis/mod.ts (@workqueue/redis)",
      "packages/cli/main.ts > npm:commander@15 (commander)",
    ),
    [],
  );
  assertEquals(
    offences(
      "packages/cli/main.ts > mod.ts (../../mod.ts)",
      "packages/cli/main.ts > packages/redis/mod.ts (../redis/mod.ts)",
    ),
    [
      'packages/cli/main.ts imports mod.ts as "../../mod.ts": a package imports others by their public entries',
      'packages/cli/main.ts imports packages/redis/mod.ts as "../redis/mod.ts": ' +
      "a package imports others by their public entries",
    ],
  );
});

Deno.test("rooms: every file of lib/ is in a room", () => {
  assertEquals(offencesOf(["lib/base/clock.ts", "lib/clock.ts", "mod.ts"], []), [
    "lib/clock.ts is in none of the rooms of lib/",
  ]);
});

/** Returns all imports of modules, including type imports. Paths are relative to `root`. */
async function importsIn(files: readonly string[], root = ROOT): Promise<Import[]> {
  // The entry imports all modules, so that they form one graph.
  const entry = await Deno.makeTempFile({ prefix: "rooms_", suffix: ".ts" });
  try {
    await Deno.writeTextFile(entry, files.map((file) => `import "${new URL(file, root)}";\n`).join(""));
    const config = fileURLToPath(new URL("deno.all.json", ROOT));
    const { stdout } = await run(Deno.execPath(), ["info", "--json", "--no-lock", "--config", config, entry], ROOT);
    const { modules } = JSON.parse(stdout) as { modules: Module[] };
    const isOurs = (url: string) => url.startsWith(root.href) && !url.includes("/node_modules/");
    const pathOf = (url: string) => relative(fileURLToPath(root), fileURLToPath(url)).replaceAll("\\", "/");
    return modules.filter(({ specifier }) => isOurs(specifier)).flatMap(({ specifier: from, dependencies = [] }) =>
      dependencies.flatMap(({ specifier, code, type }) =>
        [...new Set([code, type].flatMap((resolved) => resolved?.specifier ?? []))]
          .map((to) => ({ from: pathOf(from), to: isOurs(to) ? pathOf(to) : to, specifier }))
      )
    );
  } finally {
    await Deno.remove(entry);
  }
}

interface Module {
  specifier: string;
  dependencies?: { specifier: string; code?: { specifier?: string }; type?: { specifier?: string } }[];
}

Deno.test("rooms: imports of types count as imports, in every form", async () => {
  const folder = await Deno.realPath(await Deno.makeTempDir({ prefix: "rooms_" }));
  try {
    const forms = [
      'import type { T } from "./types.ts";\nexport type A = T;',
      'import { type T } from "./types.ts";\nexport type A = T;',
      'export type { T } from "./types.ts";',
      'export type * from "./types.ts";',
      'export type A = import("./types.ts").T;',
      'export type A = typeof import("./types.ts");',
      'export const load = () => import("./types.ts");',
    ];
    for (const [i, form] of forms.entries()) await Deno.writeTextFile(`${folder}/${i}.ts`, form);
    await Deno.writeTextFile(`${folder}/types.ts`, 'import type { A } from "./0.ts";\nexport type T = A | 1;');
    const files = [...forms.keys()].map((i) => `${i}.ts`);
    const imports = await importsIn([...files, "types.ts"], new URL(`${pathToFileURL(folder)}/`));
    assertEquals(
      imports.map(({ from, to }) => `${from} > ${to}`).sort(),
      [...files.map((file) => `${file} > types.ts`), "types.ts > 0.ts"],
    );
    assertEquals(offencesOf(files, imports), ["files import each other in a circle: 0.ts → types.ts → 0.ts"]);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("rooms: every import in the repository follows the rule", async () => {
  const files = allModules();
  const imports = await importsIn(files);
  const importing = new Set(imports.map(({ from }) => from));
  assert(importing.size > 50 && importing.has("mod.ts"));
  assertEquals(offencesOf(files, imports), []);
});
