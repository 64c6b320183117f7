/**
 * Tests of the code blocks on all pages. TypeScript blocks are run by `deno test --doc`, and links are tested in
 * `links_test.ts`.
 */

import { assert, assertEquals } from "@std/assert";
import { loadConfig } from "@workqueue/core";
import type { Tokens } from "marked";
import { parse } from "yaml";
import { guide, partsOf, targetOf } from "../../docs/site/repository.ts";
import { relativeLinks, tokensOf } from "./markdown.ts";

const root = new URL("../../", import.meta.url);

async function filesIn(folder: URL, extension: string): Promise<URL[]> {
  const found: URL[] = [];
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    if (name.startsWith(".") || name === "node_modules") continue;
    if (isDirectory) found.push(...await filesIn(new URL(`${name}/`, folder), extension));
    else if (name.endsWith(extension)) found.push(new URL(name, folder));
  }
  return found;
}

/**
 * Returns the commands that work only if Deno is installed. Commands with `npx -y deno` are not returned, because they
 * require only Node and npm.
 */
function needingDeno(text: string): string[] {
  return text.match(/(?<!npx -y )\bdeno (run|task|test|bench) .*/g) ?? [];
}

/** Pages whose programs are tested in separate files. */
const PAGES_OF_PROGRAMS = ["docs/controller.md", "docs/getting-started.md", "docs/testing.md", "docs/extend.md"];

const pages = await filesIn(root, ".md");
const { tasks } = JSON.parse(await Deno.readTextFile(new URL("deno.json", root)));

for (const page of pages) {
  const name = page.href.slice(root.href.length);
  const text = await Deno.readTextFile(page);

  Deno.test(`${name}: every block of code is checked, or says that it is text`, () => {
    for (const token of tokensOf(text)) {
      if (token.type !== "code") continue;
      const { lang, text } = token as Tokens.Code;
      if (lang === "sh" || lang === "text") assertEquals(needingDeno(text), []);
      switch (lang) {
        case "ts": // run by `deno test --doc`
        case "text":
        case "dockerfile": // a file, as its page's own test says
          break;
        case "ts ignore": // run by the page's own test, or by redis_page_test.ts
          assert(PAGES_OF_PROGRAMS.includes(name) || text.includes('from "@workqueue/redis"'), text);
          break;
        case "json":
          if ("imports" in JSON.parse(text)) break; // a deno.json, tested by tests/installs/clone_test.ts
          loadConfig(text);
          break;
        case "yaml":
          loadConfig(parse(text));
          break;
        case "sh":
          for (const [, task] of text.matchAll(/\bdeno task (?:--cwd \S+ )?([\w:]+)/g)) {
            assert(task! in tasks, `no task ${task}`);
          }
          break;
        default:
          assertEquals(lang, "one of the languages above", text);
      }
    }
  });
}

for (const page of guide) {
  const parts = partsOf(page);
  if (parts.length === 0) continue;
  Deno.test(`${page}: it lists each of its parts`, async () => {
    const links = relativeLinks(await Deno.readTextFile(new URL(page, root))).map((link) => targetOf(page, link));
    assertEquals(parts.filter((part) => !links.includes(part)), []);
  });
}

for (const folder of ["examples/", "release/"]) {
  Deno.test(`${folder}: no command in a comment needs an installed Deno`, async () => {
    for (const file of await filesIn(new URL(folder, root), ".ts")) {
      const commands = (await Deno.readTextFile(file)).match(/^ \* +(npx -y )?deno \w.*/gm) ?? [];
      assertEquals(needingDeno(commands.join("\n")), [], file.href);
    }
  });
}
