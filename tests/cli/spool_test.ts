import { assert, assertEquals, assertThrows } from "@std/assert";
import { Spool, SpoolStorage } from "../../packages/cli/output/spool.ts";
import { BLOCK } from "../../packages/cli/output/temporary_file.ts";
import { UsageError } from "../../packages/cli/system/usage_error.ts";

/** Returns bytes whose values depend on their positions. */
function bytesOf(length: number, seed: number): Uint8Array {
  return Uint8Array.from({ length }, (_, index) => (index * 31 + seed) % 251);
}

async function contentOf(spool: Spool): Promise<Uint8Array> {
  return new Uint8Array(await new Blob([...spool.chunks()] as Uint8Array<ArrayBuffer>[]).arrayBuffer());
}

Deno.test("spool: returns the written bytes, whether in memory or in a file", async () => {
  using storage = new SpoolStorage();
  const sizes = [0, 1, BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK, 3 * BLOCK + 7];
  const contents = sizes.map(bytesOf);
  const spools = sizes.map(() => new Spool(storage));
  const size = 1000;
  for (let start = 0; start < Math.max(...sizes); start += size) { // interleaved, as by commands that run at once
    for (const [index, spool] of spools.entries()) {
      spool.write(contents[index]!.subarray(start, start + size));
    }
  }
  for (const [index, spool] of spools.entries()) {
    await spool.end();
    assertEquals(await contentOf(spool), contents[index]);
  }
});

Deno.test("spool: after a spool was freed, its space is reused, and bytes written to it are dropped", async () => {
  using storage = new SpoolStorage();
  const first = new Spool(storage);
  first.write(bytesOf(3 * BLOCK, 1));
  await first.end();
  first.free();
  first.write(bytesOf(10, 2));
  first.free();
  await first.end();
  assertEquals([storage.inMemory, await contentOf(first)], [0, new Uint8Array()]);
  const blocks = new Set<number>();
  const { store } = storage.file;
  storage.file.store = (bytes) => {
    const block = store.call(storage.file, bytes);
    blocks.add(block.index);
    return block;
  };
  const second = new Spool(storage);
  second.write(bytesOf(4 * BLOCK, 3));
  assertEquals([...blocks].sort(), [0, 1, 2], "the fourth block is in memory");
  assertEquals(await contentOf(second), bytesOf(4 * BLOCK, 3));
});

Deno.test("spool: ended spools together keep a bounded number of bytes in memory", async () => {
  using storage = new SpoolStorage({ maxInMemory: 1000 });
  const spools = Array.from({ length: 5 }, () => new Spool(storage));
  for (const [index, spool] of spools.entries()) {
    spool.write(bytesOf(400, index));
    await spool.end();
  }
  assertEquals(storage.inMemory, 800);
  for (const [index, spool] of spools.entries()) {
    assertEquals(await contentOf(spool), bytesOf(400, index));
  }
  for (const spool of spools) spool.free();
  assertEquals(storage.inMemory, 0);
});

Deno.test("spool: its file has no name once it is open", { ignore: Deno.build.os === "windows" }, () => {
  const directory = Deno.makeTempDirSync({ prefix: "workqueue_" });
  {
    using storage = new SpoolStorage({ directory });
    new Spool(storage).write(bytesOf(2 * BLOCK, 0));
    assertEquals([...Deno.readDirSync(directory)], []);
  }
  Deno.removeSync(directory); // fails if the directory is not empty
});

Deno.test("spool: a temporary file that cannot be written is explained", () => {
  using storage = new SpoolStorage({ directory: "/no/such/directory" });
  const error = assertThrows(() => new Spool(storage).write(bytesOf(2 * BLOCK, 0)), UsageError);
  assertEquals(
    error.message,
    "Cannot write temporary file for output in '/no/such/directory': there is no such directory; set TMPDIR to use " +
      "another directory",
  );
  assert(storage.inMemory === 0);
});
