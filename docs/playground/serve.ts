/**
 * Serves the playground on this machine: `deno task playground [--port 4700]`. With `--out FOLDER`, writes its files
 * instead, for a host of static files.
 *
 * @module
 */

import { mkdir, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { parseArgs } from "node:util";
import { playgroundFiles } from "./build.ts";

const PORT = "4700";

const { values } = parseArgs({ options: { port: { type: "string", default: PORT }, out: { type: "string" } } });
const files = await playgroundFiles();
if (values.out === undefined) serve(Number(values.port));
else await write(values.out);

function serve(port: number): void {
  const server = createServer(({ url = "/" }, response) => {
    const name = url === "/" ? "index.html" : url.slice(1);
    if (name !== "index.html" && name !== "playground.js") {
      response.writeHead(404).end();
      return;
    }
    const type = name.endsWith(".js") ? "text/javascript" : "text/html";
    response.writeHead(200, { "content-type": `${type}; charset=utf-8` }).end(files[name]);
  });
  server.listen(port, "127.0.0.1", () => console.log(`http://127.0.0.1:${port}/`));
}

async function write(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  for (const [name, text] of Object.entries(files)) await writeFile(`${folder}/${name}`, text);
}
