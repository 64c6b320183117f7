/** Tests of docs/troubleshooting.md: the sources must contain the messages that the page quotes. */

import { assert, assertEquals } from "@std/assert";

const ROOT = new URL("../../", import.meta.url);
const FOLDERS = ["lib", "registry", "config", "limiters", "disciplines", "packages"];
const GENERATED = "page.ts";

async function sourcesIn(folder: URL): Promise<string> {
  let text = "";
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    if (name === "node_modules") continue;
    if (isDirectory) text += await sourcesIn(new URL(`${name}/`, folder));
    else if (name.endsWith(".ts") && name !== GENERATED) text += await Deno.readTextFile(new URL(name, folder));
  }
  return text;
}

Deno.test("docs/troubleshooting.md: each quoted message is in the sources", async () => {
  const page = await Deno.readTextFile(new URL("docs/troubleshooting.md", ROOT));
  const rows = page.slice(page.indexOf("\n## By error text")).matchAll(/^\| `([^`]+)`/gm);
  const quoted = [...rows].map(([, message]) => message!);
  assert(quoted.length > 20);
  const sources = (await Promise.all(FOLDERS.map((folder) => sourcesIn(new URL(`${folder}/`, ROOT))))).join("\n")
    .replace(/["`] \+\s+["`]/g, ""); // joins messages that are split across lines of code
  const missing = quoted.flatMap((message) => message.split("…")).filter((part) => !sources.includes(part.trim()));
  assertEquals(missing, []);
});
