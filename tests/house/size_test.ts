import { assert } from "@std/assert";
import { gzippedSize } from "../../bench/peers/size.ts";

Deno.test("a bundle holds only what it uses: createWorkQueue alone takes at most 3 kB", async () => {
  const bytes = await gzippedSize("{ createWorkQueue }");
  assert(bytes > 1000 && bytes <= 3000, `${bytes} bytes`);
});
