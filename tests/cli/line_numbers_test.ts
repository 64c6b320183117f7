import { assertEquals } from "@std/assert";
import { LineNumbers } from "../../packages/cli/items/line_numbers.ts";
import { sipHash } from "../../packages/cli/items/sip_hash.ts";

/** SipHash-2-4 with 128 bits of the bytes 0, 1, 2, …, for the key 0, 1, 2, …, 15, by the number of bytes. */
const HASHES: Record<number, string> = {
  0: "a3817f04ba25a8e66df67214c7550293",
  2: "8177228da4a45dc7fca38bdef60affe4",
  8: "3b62a9ba6258f5610f83e264f31497b4",
  14: "31fcefac66d7de9c7ec7485fe4494902",
  16: "6ee2a4ca67b054bbfd3315bf85230577",
  30: "ea5c7f471faf6bde2b1ad7d4686d2287",
};

Deno.test("line numbers: the hash of lines is SipHash", () => {
  const bytes = Uint8Array.from({ length: 32 }, (_, i) => i);
  const out = new Uint32Array(4);
  for (const [length, expected] of Object.entries(HASHES)) {
    const text = new TextDecoder("utf-16le").decode(bytes.subarray(0, Number(length)));
    sipHash(text, new Int32Array(bytes.buffer, 0, 4), out);
    assertEquals(new Uint8Array(out.buffer).toHex(), expected, `${length} bytes`);
  }
});

Deno.test("line numbers: many lines keep the number that each was given last", () => {
  const numbers = new LineNumbers();
  for (let i = 0; i < 5000; i++) assertEquals(numbers.change(`line ${i}`, () => i + 1), 0);
  for (let i = 0; i < 5000; i++) assertEquals(numbers.change(`line ${i}`, (before) => before * 2), i + 1);
  for (let i = 0; i < 5000; i++) assertEquals(numbers.change(`line ${i}`, (before) => before), 2 * i + 2);
  assertEquals(numbers.change("another", () => 0), 0);
});
