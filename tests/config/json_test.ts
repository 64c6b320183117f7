/** Tests of text that is not JSON. */

import { assert, assertEquals } from "@std/assert";
import { loadConfig } from "@workqueue/core";
import { issuesOf } from "../helpers.ts";

Deno.test("text that is not JSON is refused with the error of the runtime", () => {
  for (const text of ["", " \n ", "hello", "{} {}", "[1,]", `{"a": 1,}`, "{'a': 1}", "\uFEFF{}", "[1\u00a0]"]) {
    const [issue, ...others] = issuesOf(() => loadConfig(text));
    assertEquals([issue?.path, others], ["", []], text);
    assert(issue!.message.startsWith("the text is not JSON: "), issue!.message);
    assert(issue!.message.length > "the text is not JSON: ".length, text);
  }
});
