/** Tests of what arrives in chunks: however a text is split, its lines and items are the same. */

import { assertEquals } from "@std/assert";
import { linesOf } from "../../../packages/kubernetes/client/lines.ts";
import { ListSplitter } from "../../../packages/kubernetes/client/list_splitter.ts";
import { randomNumbers } from "../../queue_helpers.ts";
import { bodyOf } from "./stub_transport.ts";

const RUNS = 300;

/** Splits a text at random places, into short or long chunks. */
function split(text: string, random: () => number): string[] {
  const longest = 1 + Math.floor(random() ** 3 * text.length);
  const chunks: string[] = [];
  for (let i = 0; i < text.length;) {
    const end = i + 1 + Math.floor(random() * longest);
    chunks.push(text.slice(i, end));
    i = end;
  }
  return chunks;
}

const STRINGS = ["", "a", '"', "\\", '\\"', '","', "}]}", "[{", "items", '{"items":[', "é€😀", "\n", "\t:", "\u2028"];

/** Returns a random value in which the characters of JSON also stand in strings. */
function valueOf(random: () => number, depth: number): unknown {
  const kind = Math.floor(random() * (depth > 0 ? 6 : 4));
  const pick = () => STRINGS[Math.floor(random() * STRINGS.length)]!;
  if (kind === 0) return pick() + pick();
  if (kind === 1) return random() < 0.5 ? Math.floor(random() * 1e6) : -random();
  if (kind === 2) return random() < 0.5;
  if (kind === 3) return null;
  const values = Array.from({ length: Math.floor(random() * 4) }, () => valueOf(random, depth - 1));
  return kind === 4 ? values : Object.fromEntries(values.map((value, i) => [`${pick()}${i}`, value]));
}

/** Returns the object with its fields in a random order. */
function shuffled(object: object, random: () => number): object {
  return Object.fromEntries(
    Object.entries(object).map((entry) => ({ entry, rank: random() })).sort((a, b) => a.rank - b.rank)
      .map(({ entry }) => entry),
  );
}

Deno.test("chunks: lines are the same however the text is split", async () => {
  const random = randomNumbers(1);
  for (let run = 0; run < RUNS; run++) {
    const events = Array.from({ length: Math.floor(random() * 5) }, () => valueOf(random, 2));
    const text = events.map((event) => `${JSON.stringify(event)}\n${random() < 0.2 ? "\n" : ""}`).join("") + '{"cut":';
    const lines: unknown[] = [];
    for await (const line of linesOf(bodyOf(split(text, random)))) lines.push(JSON.parse(line));
    assertEquals(lines, events);
  }
});

Deno.test("chunks: items and metadata of a list are the same however the text is split", () => {
  const random = randomNumbers(2);
  for (let run = 0; run < RUNS; run++) {
    const items = Array.from({ length: Math.floor(random() * 5) }, () => valueOf(random, 3));
    const metadata = { resourceVersion: "1", items: [valueOf(random, 1)] };
    const list = shuffled({ kind: "List", items, metadata, other: valueOf(random, 2), more: [] }, random);
    const text = random() < 0.3 ? JSON.stringify(list, undefined, 2) : JSON.stringify(list);
    const found: unknown[] = [];
    const splitter = new ListSplitter((json) => found.push(JSON.parse(json)));
    for (const chunk of split(text, random)) {
      assertEquals(splitter.isComplete, false);
      splitter.write(chunk);
    }
    assertEquals([found, JSON.parse(splitter.metadata), splitter.isComplete], [items, metadata, true]);
  }
});

Deno.test("chunks: a list without items has none", () => {
  for (const text of ['{"items":null,"metadata":{}}', '{"items":[ ],"metadata":{}}', '{"metadata":{}}', "{}"]) {
    const splitter = new ListSplitter(() => {
      throw new Error("an item");
    });
    splitter.write(`${text}\n`);
    assertEquals([splitter.isComplete, splitter.metadata], [true, "{}"]);
  }
});
