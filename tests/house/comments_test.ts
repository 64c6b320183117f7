/** Tests of the comment checks in `comments.ts`. */

import { assert, assertEquals } from "@std/assert";
import { allCommentProblems, commentProblemsIn } from "./comments.ts";
import { allModules } from "./modules.ts";

/** Returns a line that starts with `begin` and has the given number of columns. */
function line(begin: string, columns: number): string {
  return begin.padEnd(columns, "x");
}

Deno.test("comments have at most as many columns as code", () => {
  for (const begin of ["// ", "  // ", "/* ", "/** ", " * ", "   * ", "const a = 1; // "]) {
    assertEquals(commentProblemsIn("lib/a.ts", line(begin, 120)), [], begin);
    assertEquals(commentProblemsIn("lib/a.ts", `\n${line(begin, 121)}\n`), ["lib/a.ts:2: 121 columns"], begin);
  }
});

Deno.test("comments: a character is a column, however it is stored", () => {
  assertEquals(commentProblemsIn("lib/a.ts", line("// → 🎉 ", 121)), []);
  assertEquals(commentProblemsIn("lib/a.ts", line("// → 🎉 ", 122)), ["lib/a.ts:1: 121 columns"]);
});

Deno.test("comments: code may be longer, for example a string that can't be wrapped", () => {
  assertEquals(commentProblemsIn("lib/a.ts", line('const url = "https://', 200)), []);
  assertEquals(commentProblemsIn("lib/a.ts", line("**Bold** in a template", 200)), []);
  assertEquals(commentProblemsIn("packages/dashboard/page.ts", line("// ", 200)), [], "it is generated");
});

Deno.test("comments: all lines of Lua count", () => {
  const place = "packages/redis/lua/turn.lua";
  for (const begin of ["  -- ", "  local key = "]) {
    assertEquals(commentProblemsIn(place, line(begin, 120)), [], begin);
    assertEquals(commentProblemsIn(place, line(begin, 121)), [`${place}:1: 121 columns`], begin);
  }
});

Deno.test("comments don't begin with a word that leaves the subject out", () => {
  for (const word of ["What", "How", "Where", "Who", "Those", "As"]) {
    const texts = [
      `// ${word} it is`,
      `const a = 1; // ${word} it is`,
      `/** ${word} it is. */`,
      `/**\n * ${word} it is.\n */`,
      `/** Adds. */\n// ${word} it is`.replace("// ", "\n// "),
      `/**\n * Adds.\n *\n * @param a ${word} it is.\n * @returns ${word} it is.\n */`,
      `  -- ${word} it is`,
    ];
    for (const text of texts) {
      const problems = commentProblemsIn("lib/a.ts", text);
      assertEquals(problems.length, text.includes("@param") ? 2 : 1, text);
      assert(problems.every((problem) => problem.endsWith(`: begins with "${word}"`)), text);
    }
  }
});

Deno.test("comments: later lines may begin with any word, and so may strings", () => {
  const texts = [
    "// It is\n// What it is",
    "/**\n * It is\n * What it is.\n */",
    "/** Asserts it. */",
    'const a = "What it is"; // a text',
    "const a = `\nWhat it is`;",
  ];
  for (const text of texts) assertEquals(commentProblemsIn("lib/a.ts", text), [], text);
});

Deno.test("comments: no comment in the repository has a problem", async () => {
  const modules = allModules();
  assert(modules.length > 500 && modules.some((path) => path.endsWith(".tsx")));
  assertEquals(await allCommentProblems(), []);
});
