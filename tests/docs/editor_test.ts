/** Tests of the schema in an editor. The tests run VS Code's JSON service on the config of the examples. */

import { assert, assertEquals } from "@std/assert";
import { disciplines, limiters, throttles } from "@workqueue/core";
import { type Diagnostic, getLanguageService, TextDocument } from "vscode-json-languageservice";

const example = new URL("../../examples/workqueue.json", import.meta.url);
const text = await Deno.readTextFile(example);

const service = getLanguageService({
  // An editor resolves `$schema` against the URL of the config.
  workspaceContext: { resolveRelativePath: (path, from) => new URL(path, from).href },
  schemaRequestService: (url) => Deno.readTextFile(new URL(url)),
});

function open(text: string) {
  const document = TextDocument.create(example.href, "json", 1, text);
  return { document, json: service.parseJSONDocument(document) };
}

/** Returns the parts of a config that the editor marks as wrong. */
async function markedIn(text: string): Promise<string[]> {
  const { document, json } = open(text);
  const problems: Diagnostic[] = await service.doValidation(document, json);
  return problems.map(({ range }) => document.getText(range));
}

/** Returns the completions at the `|`, with their documentation. */
async function offeredAt(text: string): Promise<Map<string, unknown>> {
  const { document, json } = open(text.replace("|", ""));
  const completions = await service.doComplete(document, document.positionAt(text.indexOf("|")), json);
  return new Map(completions!.items.map(({ label, documentation }) => [label, documentation]));
}

/** Returns the example with one part replaced. */
function edited(before: string, after: string): string {
  assert(text.includes(before));
  return text.replace(before, after);
}

Deno.test("an editor finds nothing wrong with the example", async () => {
  assertEquals(await markedIn(text), []);
});

Deno.test("an editor marks errors, and nothing else", async () => {
  const mistakes: [before: string, after: string, marked: string][] = [
    [`"burst": 5`, `"burst": 5, "brust": 5`, `"brust"`],
    [`"rate": 10`, `"rate": -10`, "-10"],
    [`"bucket"`, `"buckets"`, `"buckets"`],
    [`"timeout": "10s"`, `"timeout": "10 s"`, `"10 s"`],
  ];
  for (const [before, after, marked] of mistakes) assertEquals(await markedIn(edited(before, after)), [marked]);
});

Deno.test("an editor completes the type of a limiter to each type, and describes it", async () => {
  for (const place of [`"type": "|bucket"`, `"type": |`]) {
    const offered = await offeredAt(edited(`"type": "bucket", "rate": 10, "burst": 5`, place));
    const expected = limiters.types().map((type) => [`"${type}"`, limiters.get(type)!.description] as const);
    assertEquals(offered, new Map(expected));
  }
});

Deno.test("an editor offers a limiter's options once its type is there, each with its description", async () => {
  for (const type of limiters.types()) {
    const options = Object.entries(limiters.get(type)!.options);
    const expected = options.map(([option, { description }]) => [option, description] as const);
    const limiter = `{ "type": "${type}", | }`;
    assertEquals(await offeredAt(edited(`"backoff": {`, `"other": ${limiter}, "backoff": {`)), new Map(expected));
    assertEquals(await offeredAt(edited(`"limiter": "gentle"`, `"limiter": ${limiter}`)), new Map(expected), "nested");
  }
  const offered = await offeredAt(edited(`"backoff": {`, `"other": { | }, "backoff": {`));
  assertEquals([...offered.keys()], ["type"]);
});

Deno.test("an editor completes a discipline and its options, and those of an inner one", async () => {
  const types = disciplines.types().map((type) => [`"${type}"`, disciplines.get(type)!.description] as const);
  const places = [
    (inner: string) => inner,
    (inner: string) => `{ "type": "fair", "separator": "/", "within": ${inner} }`,
  ];
  for (const place of places) {
    const at = (inner: string) => edited(`"limiter": "gentle"`, `"limiter": "gentle", "discipline": ${place(inner)}`);
    assertEquals(await offeredAt(at(`{ "type": | }`)), new Map(types));
    for (const type of disciplines.types()) {
      const options = Object.entries(disciplines.get(type)!.options);
      const expected = options.map(([option, { description }]) => [option, description] as const);
      assertEquals(await offeredAt(at(`{ "type": "${type}", | }`)), new Map(expected));
    }
    assertEquals(await markedIn(at(`{ "type": "priority", "maxHeadStart": "unlimited" }`)), []);
    assertEquals(await markedIn(at(`{ "type": "priority", "maxHeadStrat": "1m" }`)), [`"maxHeadStrat"`]);
  }
  const queue = await offeredAt(edited(`"limiter": "gentle",`, `"limiter": "gentle", "throttle": { | },`));
  assertEquals([...queue.keys()], ["type", "rate", "burst", "counts"]);
  for (const type of throttles.types()) {
    const options = Object.entries(throttles.get(type)!.options);
    const text = edited(`"limiter": "gentle",`, `"limiter": "gentle", "throttle": { "type": "${type}", | },`);
    assertEquals(await offeredAt(text), new Map(options.map(([option, { description }]) => [option, description])));
  }
});
