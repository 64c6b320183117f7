/**
 * The pages that people read: what they link to is there, and what they show works. Their TypeScript is run by
 * `deno test --doc`.
 */

import { assert, assertEquals } from "@std/assert";
import { loadConfig } from "@workqueue/core";
import GithubSlugger from "github-slugger";
import type { Tokens } from "marked";
import { parse } from "yaml";
import { relativeLinks, tokensOf } from "./markdown.ts";

const root = new URL("../../", import.meta.url);

async function pagesIn(folder: URL): Promise<URL[]> {
  const found: URL[] = [];
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    if (name.startsWith(".") || name === "node_modules") continue;
    if (isDirectory) found.push(...await pagesIn(new URL(`${name}/`, folder)));
    else if (name.endsWith(".md")) found.push(new URL(name, folder));
  }
  return found;
}

/** The anchors that GitHub and JSR give to headings. */
async function anchorsOf(page: URL): Promise<string[]> {
  const slugger = new GithubSlugger();
  const headings = tokensOf(await Deno.readTextFile(page)).filter((token): token is Tokens.Heading =>
    token.type === "heading"
  );
  return headings.map(({ text }) => `#${slugger.slug(text.replaceAll("`", ""))}`);
}

async function exists(file: URL): Promise<boolean> {
  return await Deno.stat(file).then(() => true, () => false);
}

const pages = await pagesIn(root);
const { tasks } = JSON.parse(await Deno.readTextFile(new URL("deno.json", root)));

for (const page of pages) {
  const name = page.href.slice(root.href.length);
  const text = await Deno.readTextFile(page);

  Deno.test(`${name}: what it links to is there`, async () => {
    for (const href of relativeLinks(text)) {
      const target = new URL(href, page);
      const { hash } = target;
      target.hash = "";
      assert(await exists(target), href);
      if (hash !== "") assert((await anchorsOf(target)).includes(hash), href);
    }
  });

  Deno.test(`${name}: every block of code is checked, or says that it is text`, () => {
    for (const token of tokensOf(text)) {
      if (token.type !== "code") continue;
      const { lang, text } = token as Tokens.Code;
      switch (lang) {
        case "ts": // run by itself
        case "text":
          break;
        case "ts ignore": // run by redis_page_test.ts
          assert(text.includes('from "@workqueue/redis"'), text);
          break;
        case "json":
          if ("imports" in JSON.parse(text)) break; // a deno.json: tried by tests/installs/clone_test.ts
          loadConfig(text);
          break;
        case "yaml":
          loadConfig(parse(text));
          break;
        case "sh":
          for (const [, task] of text.matchAll(/\bdeno task ([\w:]+)/g)) assert(task! in tasks, `no task ${task}`);
          break;
        default:
          assertEquals(lang, "one of the languages above", text);
      }
    }
  });
}
