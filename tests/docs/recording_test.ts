/** Tests of the demo recording: its frames, and the picture that is made from them. */

import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { animate } from "../../docs/recording/animation.ts";
import { capture, type Write } from "../../docs/recording/capture.ts";
import { framesOf } from "../../docs/recording/frames.ts";
import { outputOf } from "../program.ts";

const SIZE = { columns: 20, rows: 3 };
const WORDS = { title: "A & B", description: "What happens" };

const frames = (...writes: Write[]) => framesOf({ size: SIZE, writes });

/** Returns the time and the rows of each frame. */
const shown = async (...writes: Write[]) =>
  (await frames(...writes)).map(({ at, rows }) => [
    at,
    ...rows.map((spans) => spans.map(({ column, text }) => `${column}:${text}`).join(" ")),
  ]);

Deno.test("recording: frames show the screen when it has changed, at most five times a second", async () => {
  assertEquals(
    await shown(
      { at: 0, text: "one\r\n" },
      { at: 0.25, text: "tw" },
      { at: 0.3, text: "o  \x1b[31mred\x1b[0m\r\n" },
      { at: 1, text: "\x1b[0m" },
      { at: 2, text: "three\r\nfour" },
    ),
    [[0, "0:one", "", ""], [0.2, "0:one", "0:two 5:red", ""], [2, "0:two 5:red", "0:three", "0:four"]],
  );
});

Deno.test("recording: output that a program writes in one piece is never shown half", async () => {
  assertEquals(
    await shown(
      { at: 0, text: "a" },
      { at: 0.5, text: "\x1b[?2026h\r\x1b[K" },
      { at: 1, text: "b\x1b[?2026l" },
    ),
    [[0, "0:a", "", ""], [1, "0:b", "", ""]],
  );
});

Deno.test("recording: the picture plays without a script, has a description, and is the same each time", async () => {
  const writes = [
    { at: 0, text: "$ a < b && c\r\n" },
    { at: 1, text: "\x1b[1;31mred\x1b[0m \x1b[2mdim\x1b[0m █\r\n" },
    { at: 5, text: "end" },
  ];
  const picture = animate(await frames(...writes), SIZE, WORDS);
  assertEquals(animate(await frames(...writes), SIZE, WORDS), picture);

  assertStringIncludes(picture, '<title id="title">A &amp; B</title>');
  assertStringIncludes(picture, '<desc id="description">What happens</desc>');
  assertEquals(picture.split("$ a &lt; b &amp;&amp; c").length, 2, "a row that stays is drawn once");
  assertStringIncludes(picture, 'class="c1 bold" x="0"');
  assertStringIncludes(picture, 'class="dim" x="33.6"');
  assertStringIncludes(picture, "animation:film 10s step-end infinite"); // the last frame is shown for five seconds
  assertStringIncludes(picture, "@keyframes film{0%{transform:translateY(0px)}10%{");
  assert(!/<script|https?:(?!\/\/www\.w3\.org\/2000\/svg")|url\(/.test(picture));
});

const hasScript = (await outputOf("script", "--version"))?.includes("util-linux") === true;

Deno.test({
  name: "recording: a program is captured on a terminal of the size asked for",
  ignore: !hasScript,
  async fn() {
    const { writes } = await capture("sh -c 'test -t 2 && stty size'", SIZE);
    assertEquals(writes[0]!.at, 0);
    assertEquals(writes.map(({ text }) => text).join(""), "3 20\r\n");
    await assertRejects(() => capture("sh -c 'exit 3'", SIZE), Error, "it ended with 3");
  },
});

Deno.test("recording: the picture of the README is small enough", async () => {
  const { size } = await Deno.stat(new URL("../../docs/demo.svg", import.meta.url));
  assert(size < 150_000);
});
