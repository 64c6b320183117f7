import { assert, assertEquals } from "@std/assert";
import { Buffer } from "node:buffer";
import { LineWriter } from "../../packages/cli/children/child_output.ts";

const MEBIBYTE = 1 << 20;

/** Writes chunks to a `LineWriter`. Returns what the writer passes on. */
async function passedOn(chunks: readonly string[], tag = ""): Promise<string[]> {
  const written: string[] = [];
  const writer = new LineWriter((lines) => {
    written.push(new TextDecoder().decode(lines));
    return Promise.resolve();
  }, tag);
  const shared = new Uint8Array(4 * MEBIBYTE); // a pipe reuses the memory of a chunk for the next chunk
  for (const chunk of chunks) {
    const { written } = new TextEncoder().encodeInto(chunk, shared);
    await writer.write(shared.subarray(0, written));
  }
  await writer.end();
  return written;
}

Deno.test("child output: is passed on in whole lines, and at its end", async () => {
  assertEquals(await passedOn(["a\nb", "", "c", "\n\nd\ne", "f"]), ["a\n", "bc\n\nd\n", "ef"]);
  assertEquals(await passedOn(["a\nb", "c", "\n\nd\ne", "f"], "#"), ["#a\n", "#bc\n#\n#d\n", "#ef\n"]);
  assertEquals(await passedOn([]), []);
});

Deno.test("child output: a line of more than 1 MiB is passed on in parts, with one tag", async () => {
  const half = "x".repeat(MEBIBYTE / 2);
  assertEquals(await passedOn([half, half, "\n"]), [`${half}${half}\n`]);
  assertEquals(await passedOn([half, half, "y", "z\nend"], "#"), [`#${half}${half}y`, "z\n", "#end\n"]);
});

Deno.test("child output: the work for a byte does not depend on the number of bytes before it on the line", async () => {
  const chunk = new Uint8Array(1000).fill(0x78);
  const chunks = 4000;
  let copied = 0;
  const writer = new LineWriter(() => Promise.resolve());
  const { concat } = Buffer;
  const { set } = Uint8Array.prototype;
  Buffer.concat = (list, ...rest) => {
    for (const { length } of list) copied += length;
    return concat.call(Buffer, list, ...rest);
  };
  Uint8Array.prototype.set = function (bytes, offset) {
    copied += bytes.length;
    set.call(this, bytes, offset);
  };
  try {
    for (let i = 0; i < chunks; i++) await writer.write(chunk);
  } finally {
    Buffer.concat = concat;
    Uint8Array.prototype.set = set;
  }
  const given = chunks * chunk.length;
  assert(copied >= given && copied <= 4 * given, `copied ${copied} bytes for ${given}`);
});
