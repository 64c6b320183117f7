import { assertEquals } from "@std/assert";
import { RingBuffer } from "../lib/internal/ring_buffer.ts";
import { randomNumbers } from "./queue_helpers.ts";

Deno.test("a ring buffer agrees with an array, through growing, wrapping and shrinking", () => {
  const random = randomNumbers(3);
  const ring = new RingBuffer<number>();
  const array: number[] = [];
  for (const pushes of [0.9, 0.5, 0.1, 0.6, 0.2]) {
    for (let step = 0; step < 2000; step++) {
      if (random() < pushes) {
        ring.push(step);
        array.push(step);
      } else {
        assertEquals(ring.shift(), array.shift());
      }
      assertEquals(ring.length, array.length);
    }
  }
});

Deno.test("a ring buffer that is empty gives undefined and stays empty", () => {
  const ring = new RingBuffer<string>();
  assertEquals([ring.shift(), ring.length], [undefined, 0]);
  ring.push("a");
  assertEquals([ring.shift(), ring.shift(), ring.length], ["a", undefined, 0]);
});
