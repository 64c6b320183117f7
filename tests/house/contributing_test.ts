/**
 * Tests that `CONTRIBUTING.md` names only files and tasks that exist, and that its recipes name every file that their
 * steps write or change. `extend_test.ts` follows the recipes.
 */

import { assert, assertEquals } from "@std/assert";
import { existsSync } from "node:fs";
import { ROOT } from "../../release/commands.ts";
import { recipes } from "./extend/all.ts";

const page = Deno.readTextFileSync(new URL("CONTRIBUTING.md", ROOT));
const { tasks } = JSON.parse(Deno.readTextFileSync(new URL("deno.json", ROOT))) as { tasks: Record<string, string> };

/** Paths of the files that recipes add, with NAME. */
const added = recipes.flatMap(({ steps }) => steps.filter(({ text }) => text !== undefined).map(({ path }) => path));

/** Returns the paths in backticks, and the paths in the commands of code blocks. */
function pathsIn(text: string): string[] {
  const words = [...text.matchAll(/`([^`\n]+)`/g)].map(([, code]) => code!);
  const commands = [...text.matchAll(/^npx [^#\n]+/gm)].flatMap(([command]) => command.split(" "));
  return [...words, ...commands].filter((word) => /^[\w.-]+\/[\w./-]*$|^[\w.-]+\.(ts|json|md)$/.test(word));
}

/** Returns a section, from its heading to the next heading. */
function sectionOf(heading: string): string {
  const [, section] = page.split(new RegExp(`^#+ ${heading}$`, "m"));
  assert(section !== undefined, `CONTRIBUTING.md has no section "${heading}"`);
  return section.split(/^#/m, 1)[0]!;
}

Deno.test("README.md: it has at most 160 lines", () => {
  const { length } = Deno.readTextFileSync(new URL("README.md", ROOT)).trimEnd().split("\n");
  assert(length <= 160, `${length} lines`);
});

Deno.test("CONTRIBUTING.md: it has at most 200 lines", () => {
  assert(page.split("\n").length - 1 <= 200, `${page.split("\n").length - 1} lines`);
});

Deno.test("CONTRIBUTING.md: every file and folder that it names exists, or is added by a recipe", () => {
  const paths = pathsIn(page);
  assert(paths.length > 100);
  assertEquals(paths.filter((path) => !existsSync(new URL(path, ROOT)) && !added.includes(path)), []);
});

Deno.test("CONTRIBUTING.md: every task that it names exists, and every task that runs long is listed", () => {
  const named = [...page.matchAll(/deno task ([\w:]+)/g)].map(([, task]) => task!);
  assertEquals(named.filter((task) => !(task in tasks)), []);
  const long = Object.keys(tasks).filter((task) =>
    /^(bench|prove|storm|faults|histories|mutate|conformance)/.test(task)
  );
  const listed = sectionOf("Tests that run long and rarely");
  assertEquals(long.filter((task) => !new RegExp(`deno task ${task}(?![\\w:]).* # .*; .*`).test(listed)), []);
});

for (const { heading, steps } of recipes) {
  Deno.test(`CONTRIBUTING.md: the recipe "${heading}" names the file of each step, and no other new file`, () => {
    const paths = pathsIn(sectionOf(heading));
    assertEquals(steps.map(({ path }) => path).filter((path) => !paths.includes(path)), []);
    const own = steps.map(({ path }) => path);
    assertEquals(paths.filter((path) => path.includes("NAME") && !own.includes(path)), []);
  });
}
