/** Tests of `--plugin`: plugins that can be loaded, and messages about plugins that can't be loaded. */

import { assert, assertEquals, assertMatch } from "@std/assert";
import { limiters, loadConfig } from "@workqueue/core";
import { loadPlugins } from "../../packages/cli/config/plugins.ts";
import { Folder } from "../config_file/folder.ts";
import { someRuntimes, Workspace } from "./cli.ts";

/** Limiter without imports, for places where a bare import can't be resolved. */
const FIXED = `
export default ({ limiters }) => {
  limiters.register({
    type: "fixed",
    description: "Always the same delay.",
    options: { delay: { kind: "duration", description: "The delay." } },
    create: ({ delay }) => ({ when: () => delay, forget() {}, numRequeues: () => 0 }),
  });
};
`;

/** Asynchronous plugin with a discipline and a limiter that use the core passed to the plugin. */
const DOUBLED = `
export default async ({ limiters, disciplines, core }) => {
  await Promise.resolve();
  limiters.register(core.defineLimiter({
    type: "doubled",
    description: "Twice as long as an exponential one.",
    options: { baseDelay: { kind: "duration", description: "Half the first delay." } },
    create({ baseDelay }) {
      const limiter = core.createExponentialLimiter({ baseDelay, maxDelay: "1h" });
      return {
        when: (item) => 2 * limiter.when(item),
        forget: (item) => limiter.forget(item),
        numRequeues: (item) => limiter.numRequeues(item),
      };
    },
  }));
  disciplines.register(core.defineDiscipline({
    type: "lifo",
    description: "Last in, first out.",
    options: {},
    create() {
      const entries = [];
      return { push: (e) => void entries.push(e), pop: () => entries.pop(), touch() {}, get length() { return entries.length } };
    },
  }));
};
`;

const TYPED = `
import type { LimiterRegistry } from "@workqueue/core";

export default ({ limiters }: { limiters: LimiterRegistry }): void => limiters.register({
  type: "none",
  description: "No delay.",
  options: {},
  create: () => ({ when: (): number => 0, forget(): void {}, numRequeues: (_item: unknown): number => 0 }),
});
`;

const CONFIG = `
limiters:
  steady: { type: fixed, delay: 2s }
  twice: { type: doubled, baseDelay: 1s }
queues:
  images: { limiter: steady, discipline: { type: lifo } }
`;

for (const runtime of Object.keys(someRuntimes)) {
  Deno.test(`plugins, ${runtime}: they are loaded, by paths from the working directory`, async () => {
    await using workspace = new Workspace(runtime);
    Deno.mkdirSync(`${workspace.directory}/of mine #1`);
    workspace.write("of mine #1/fixed.mjs", FIXED);
    workspace.write("doubled.mjs", DOUBLED);
    workspace.write("q.yaml", CONFIG);
    const plugins = ["--plugin", "of mine #1/fixed.mjs", "--plugin", `${workspace.directory}/doubled.mjs`];

    assertEquals(await workspace.run(["check", ...plugins, "q.yaml"]), {
      code: 0,
      stdout: "q.yaml: ok, 1 queue, 2 limiters\n",
      stderr: "",
    });
    const { stdout } = await workspace.run(["check", "q.yaml", "--plugin", "doubled.mjs"]);
    assertMatch(
      stdout,
      /^q\.yaml:3:13: \/limiters\/steady\/type: 'type' must be one of .*, "doubled", got "fixed"\n$/,
    );

    const delays = await workspace.run(["delays", ...plugins, "q.yaml", "--failures", "3"]);
    assertEquals(delays, {
      code: 0,
      stdout: [
        "         steady        twice",
        "failure  delay  total  delay  total",
        "      1    2 s    2 s    2 s    2 s",
        "      2    2 s    4 s    4 s    6 s",
        "      3    2 s    6 s    8 s   14 s",
        "",
      ].join("\n"),
      stderr: "",
    });
  });

  Deno.test(`plugins, ${runtime}: TypeScript is loaded if the runtime runs it, and otherwise refused with that reason`, async () => {
    await using workspace = new Workspace(runtime);
    workspace.write("typed.ts", TYPED);
    workspace.write("q.yaml", "limiters: { a: { type: none } }");
    const refusal = "workqueue: Cannot load plugin 'typed.ts': this version of Node cannot run TypeScript; " +
      "use Node 22.18 or later, Deno or Bun, or compile it to JavaScript\n";
    assertEquals(
      await workspace.run(["check", "--plugin", "typed.ts", "q.yaml"]),
      runtime === "Node"
        ? { code: 2, stdout: "", stderr: refusal }
        : { code: 0, stdout: "q.yaml: ok, 0 queues, 1 limiter\n", stderr: "" },
    );
  });

  const place = runtime === "Node" ? "" : " at line 2, column 19"; // Node reports no position for a syntax error
  /** Plugins that can't be loaded, and the error messages. */
  const WRONG: [file: string, text: string, message: RegExp][] = [
    ["syntax.mjs", "const a = 1;\nexport default (( ;\n", new RegExp(`it failed${place}: .*(Unexpected|expected)`)],
    ["throws.mjs", 'const a = 1;\nthrow new Error("boom\\nmore");\n', /it failed at line 2, column \d+: boom$/],
    [
      "later.mjs",
      'export default async () => {\n  throw new Error("boom");\n};',
      /it failed at line 2, column \d+: boom$/,
    ],
    ["odd.mjs", "throw null;", /it failed: null$/],
    ["lost.mjs", 'import "./gone.mjs";', /it failed.*: .*gone\.mjs/],
    [
      "bare.mjs",
      'import { defineLimiter } from "@workqueue/core/nowhere";',
      /it failed.*: .*@workqueue\/core.*; use the 'core' that the exported function receives: \(\{ limiters, core \}\) => …$/,
    ],
    [
      "empty.mjs",
      "export const a = 1;",
      /its default export is not a function such as \(\{ limiters \}\) => limiters\.register/,
    ],
    ["object.mjs", "export default { type: 'fixed' };", /its default export is not a function/],
    ["idle.mjs", "export default () => {};", /it registers no limiter, throttle or discipline type$/],
    [
      "taken.mjs",
      "export default ({ limiters }) => limiters.register(limiters.get('bucket'));",
      /it failed.*: Cannot register limiter: the type "bucket" is registered already$/,
    ],
    [
      "wrong.mjs",
      "export default ({ disciplines }) => disciplines.register({ type: 'x', description: '', options: {} });",
      /it failed.*: Cannot define discipline: 'create' must be a function, got undefined$/,
    ],
  ];

  Deno.test(`plugins, ${runtime}: a plugin that can't be loaded is reported in a sentence, with the place if the runtime gives it`, async () => {
    await using workspace = new Workspace(runtime);
    for (const [file, text] of WRONG) workspace.write(file, text);
    const results = WRONG.map(async ([file, , message]) => {
      const { code, stdout, stderr } = await workspace.run(["schema", "--plugin", file]);
      assertEquals([code, stdout], [2, ""], file);
      const [line, ...rest] = stderr.split("\n");
      assertEquals(rest, [""], stderr);
      assert(line!.startsWith(`workqueue: Cannot load plugin '${file}': `), line);
      assertMatch(line!, message);
    });
    await Promise.all(results);
  });
}

Deno.test("plugins: a missing plugin file, and one that is given twice, are reported by every command", async () => {
  await using workspace = new Workspace();
  workspace.write("q.json", "{}");
  workspace.write("fixed.mjs", FIXED);
  for (const args of [["check", "q.json"], ["delays", "q.json"], ["schema"]]) {
    const refuse = (...plugins: string[]) =>
      workspace.run([...args, ...plugins.flatMap((plugin) => ["--plugin", plugin])]).then((
        { code, stderr },
      ) => [code, stderr]);
    assertEquals(await refuse("none.mjs"), [2, "workqueue: Cannot load plugin 'none.mjs': there is no such file\n"]);
    assertEquals(await refuse("."), [2, "workqueue: Cannot load plugin '.': it is a directory\n"]);
    const [code, message] = await refuse("fixed.mjs", "./fixed.mjs");
    assertEquals(code, 2);
    assertMatch(
      String(message),
      /'\.\/fixed\.mjs': it failed .*: Cannot register limiter: the type "fixed" is registered already\n$/,
    );
  }
});

Deno.test("plugins: their types are known to configs that are loaded with them, and nowhere else", async () => {
  using folder = new Folder();
  const options = await loadPlugins([folder.write("fixed.mjs", FIXED)]);
  loadConfig({ limiters: { a: { type: "fixed", delay: 1 } } } as object, options);
  assert(!limiters.has("fixed"));
  assertEquals(await loadPlugins(), {});
});
