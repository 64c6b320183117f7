/**
 * Tests that the parts of `deno task ok` run each test file once, and that each folder of tests is in one of the lists
 * in `tests/test_files.ts`.
 */

import { assert, assertEquals } from "@std/assert";
import { dirname } from "node:path/posix";
import { allParts, LONGEST } from "../parts.ts";
import { bunTests, coreFolders, denoFolders, libFolders, packageFolders, rareFolders } from "../test_files.ts";
import { allModules } from "./modules.ts";

/** Files that `deno test` finds in the repository. */
const testFiles = allModules().filter((file) => /(^|[/_.])test\.m?[jt]sx?$/.test(file));

/** Reports whether a task of its own runs a test file. */
function isRare(file: string): boolean {
  return rareFolders.some((folder) => file.startsWith(`tests/${folder}/`));
}

Deno.test({
  name: "parts: deno task ok runs each test file in exactly one part on Deno",
  ignore: Deno.build.os === "windows", // the tests of the command don't run on Windows
  fn() {
    for (const file of testFiles.filter((file) => !isRare(file))) {
      const parts = allParts.filter(({ files }) => files?.includes(file));
      assertEquals(parts.length, 1, `parts in tests/parts.ts that run ${file}`);
    }
  },
});

Deno.test("parts: the test files that are named as the longest are there", () => {
  for (const file of LONGEST) assert(testFiles.includes(file), `${file}, which tests/parts.ts names, is missing`);
});

Deno.test("parts: each folder of tests is in one list of tests/test_files.ts, and each list has such folders only", () => {
  const listed = [...coreFolders, ...packageFolders, ...denoFolders, ...rareFolders].map((folder) => `tests/${folder}`);
  const folders = new Set(testFiles.filter((file) => file.startsWith("tests/")).map((file) => dirname(file)));
  assertEquals(listed.toSorted(), [...folders].toSorted(), "folders in tests/test_files.ts, and folders with tests");
});

Deno.test("parts: each room of lib/ has its folder of tests, but for the types", () => {
  const rooms = [...Deno.readDirSync(new URL("../../lib", import.meta.url))].map(({ name }) => name);
  const tested = [...libFolders, "contracts"].filter((folder) => folder !== "std");
  assertEquals(tested.toSorted(), rooms.toSorted(), "folders in tests/test_files.ts, and rooms of lib/");
});

Deno.test("parts: the tests that run on Bun are there, and at least one is of each package that Bun can run", () => {
  for (const file of bunTests) assert(testFiles.includes(file), `${file}, which tests/test_files.ts names, is missing`);
  const tested = packageFolders.filter((folder) => !folder.includes("/"));
  for (const folder of tested) {
    assert(bunTests.some((file) => file.startsWith(`tests/${folder}/`)), `no test of ${folder} runs on Bun`);
  }
});
