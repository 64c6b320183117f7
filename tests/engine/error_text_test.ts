import { assertEquals } from "@std/assert";
import { lineOf } from "../../packages/engine/error_text.ts";

Deno.test("errors: a text has one line of at most 300 characters, whatever was thrown", () => {
  assertEquals(lineOf(new TypeError("no\nsuch\u2028 thing\u001b[31m")), "TypeError: no such  thing [31m");
  assertEquals([lineOf("just a text"), lineOf(""), lineOf([])], ['"just a text"', '""', "an array"]);
  assertEquals(lineOf(new Error()), "Error");
  assertEquals(
    lineOf({
      toString: () => {
        throw new Error();
      },
    }),
    "an object",
  );
  const lineAfterName = (message: string) => lineOf(new Error(message)).slice("Error: ".length);
  assertEquals(lineAfterName("x".repeat(293)), "x".repeat(293));
  assertEquals(lineAfterName("x".repeat(294)), `${"x".repeat(292)}…`);
  assertEquals(lineAfterName("x".repeat(291) + "😀😀"), `${"x".repeat(291)}…`);
  assertEquals(lineAfterName("half \ud83d"), "half \ufffd");
});
