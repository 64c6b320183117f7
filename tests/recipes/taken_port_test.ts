/** Tests of the examples' services on a port that is in use. */

import { assertEquals } from "@std/assert";
import { ROOT, runtimes } from "../cli/cli.ts";

const LEFT: Record<string, unknown> = {
  operate: ["order-1", "order-2"],
  webhooks: [{ tenant: "acme", id: "1", url: "http://127.0.0.1:1/", body: {} }],
};

for (const runtime of ["Deno", "Bun"].filter((name) => name in runtimes)) {
  for (const [name, items] of Object.entries(LEFT)) {
    Deno.test(`${name} service, ${runtime}: a port in use is reported in one line, and saved items stay saved`, async () => {
      const folder = await Deno.makeTempDir({ prefix: "taken_port_" });
      try {
        const left = JSON.stringify(items);
        await Deno.writeTextFile(`${folder}/left.json`, left);
        using taken = Deno.listen({ hostname: "127.0.0.1", port: 0 });
        const { port } = taken.addr as Deno.NetAddr;
        const [file, ...args] = await runtimes[runtime]!();
        const { code, stderr } = await new Deno.Command(file!, {
          args: [...args, `${ROOT}examples/${name}/service.ts`],
          cwd: folder,
          env: { PORT: String(port) },
        }).output();
        assertEquals([code, new TextDecoder().decode(stderr)], [
          1,
          `Cannot listen on 127.0.0.1:${port}: the port is in use. Set PORT to another port\n`,
        ]);
        assertEquals(await Deno.readTextFile(`${folder}/left.json`), left);
      } finally {
        await Deno.remove(folder, { recursive: true });
      }
    });
  }
}
