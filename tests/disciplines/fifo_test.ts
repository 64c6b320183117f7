import { assertEquals } from "@std/assert";
import { FifoDiscipline } from "../../disciplines/fifo.ts";

Deno.test("fifo: a look shows the first entries, as many as were asked for, and changes nothing", () => {
  const discipline = new FifoDiscipline();
  for (const key of ["a", "b", "c"]) {
    discipline.push({ key, item: key, priority: 0, readyAt: 0 } as never);
  }
  for (const limit of [0, 1, 2, 3, 4]) {
    assertEquals(discipline.peek!(limit).map(({ key }) => key), ["a", "b", "c"].slice(0, limit));
  }
  assertEquals(discipline.pop()!.key, "a");
});
