/** Tests of the declarations of scripts. No server is needed. */

import { assert, assertEquals, assertThrows } from "@std/assert";
import { declareScript } from "../../packages/redis/scripts/declare.ts";
import {
  type Argument,
  DURATION,
  fields,
  FLAG,
  list,
  metaNumbers,
  NUMBER,
  optional,
  type ReplyField,
  rows,
  TEXT,
} from "../../packages/redis/scripts/fields.ts";
import { STRUCTURES } from "../../packages/redis/scripts/constants.ts";
import { createScripts } from "../../packages/redis/scripts/script.ts";
import { shorten } from "../../packages/redis/scripts/shorten.ts";
import { createThrottleScripts } from "../../packages/redis/scripts/throttle_script.ts";

/** A script without a prelude. */
const plain = { prelude: "" };

/** Returns the non-empty lines that follow the first line of a script. */
function linesOf({ lua }: { lua(time: string): string }): string[] {
  return lua("{ 0, 0 }").split("\n").slice(1).map((line) => line.trim()).filter((line) => line !== "");
}

Deno.test("scripts: each argument is a variable in Lua, in the order in which it is sent", () => {
  const script = declareScript({
    ...plain,
    args: { key: TEXT, count: NUMBER, isNew: FLAG, delayMs: DURATION, error: optional(TEXT), rate: optional(NUMBER) },
    reply: NUMBER,
    body: "return reply(key, count, isNew, delayUs, error, rate)",
  });
  const values = { key: "a", count: 2, isNew: true, delayMs: 0.0015, error: undefined, rate: 0.1 };
  assertEquals(script.write(values), ["a", "2", "1", "2", "", "0.1"]);
  assertEquals(linesOf(script), [
    "local key, count, isNew, delayUs, error, rate = ARGV[1], tonumber(ARGV[2]), ARGV[3] == '1', tonumber(ARGV[4]), " +
    "ARGV[5] ~= '' and ARGV[5] or nil, ARGV[6] ~= '' and tonumber(ARGV[6]) or nil",
    "return reply(key, count, isNew, delayUs, error, rate)",
  ]);
  assertEquals([3, null].map((sent) => optional(NUMBER).read(sent)), [3, undefined]);
});

Deno.test("scripts: rows follow the arguments, and a mark follows the rows", () => {
  const script = declareScript({
    ...plain,
    retry: "marked",
    args: { owner: TEXT },
    rows: { key: TEXT, delayMs: DURATION },
    reply: NUMBER,
    body: "for key, delayUs in rows() do\nadd(key, delayUs, owner, resent)\nend\nreturn reply(0)",
  });
  const values = [{ key: "a", delayMs: 1 }, { key: "b", delayMs: 0 }];
  assertEquals(script.write({ owner: "o" }, values), ["o", "a", "1000", "b", "0"]);
  assertEquals(linesOf(script), [
    "local owner = ARGV[1]",
    "local resent = ARGV[#ARGV] == '1'",
    "for row = 2, #ARGV - 1, 2 do local key, delayUs = ARGV[row + 0], tonumber(ARGV[row + 1])",
    "add(key, delayUs, owner, resent)",
    "end",
    "return reply(0)",
  ]);
});

const reply = fields({
  pauseMs: optional(DURATION),
  isLost: FLAG,
  tokens: list(TEXT),
  totals: metaNumbers({ failed: "failed", stalled: "givenUp:stalled" }),
  taken: rows({ key: TEXT, failures: NUMBER, readyForMs: optional(DURATION) }),
});

Deno.test("scripts: values that Lua sends are read by name, in the order of their declaration", () => {
  const script = declareScript({
    ...plain,
    args: {},
    reply,
    body: "pauseUs, isLost, tokens = nil, 1, {}\ntaken.key, taken.failures, taken.readyForUs = {}, {}, {}",
  });
  assertEquals(linesOf(script).slice(0, 1), ["local taken = { key = {}, failures = {}, readyForUs = {} }"]);
  assertEquals(
    linesOf(script).at(-1),
    "return q.reply({ pauseUs or false, isLost, tokens, redis.call('HMGET', q.meta, 'failed', 'givenUp:stalled'), " +
      "{ taken.key, taken.failures, taken.readyForUs } })",
  );
  const sent = [null, 1, ["1", "2"], ["7", null], [["a", "b"], [0, 3], []]];
  assertEquals(script.read(sent), {
    pauseMs: undefined,
    isLost: true,
    tokens: ["1", "2"],
    totals: { failed: 7, stalled: 0 },
    taken: [{ key: "a", failures: 0, readyForMs: undefined }, { key: "b", failures: 3, readyForMs: undefined }],
  });
  const times = script.read([1500, 0, [], [], [["a"], [0], [2000]]]);
  assertEquals([times.pauseMs, times.isLost, times.taken], [1.5, false, [{ key: "a", failures: 0, readyForMs: 2 }]]);
});

Deno.test("scripts: a reply without a field, or without a value of a row, is refused", () => {
  assertThrows(() => reply.read([1, 0, []]), Error, "'totals'"); // Redis truncates a list at nil
  assertThrows(() => reply.read([1, 0, [], [], [["a", "b"], [0], []]]), Error, "'failures' has 1 values for 2 rows");
});

Deno.test("scripts: a field that the Lua omits is refused when the script is declared", () => {
  const declare = (body: string) => () =>
    declareScript({
      args: { key: TEXT },
      rows: { token: TEXT },
      reply: fields({ isNew: FLAG, taken: rows({ delayMs: DURATION }) }),
      body: body.includes("token") ? `for token in rows() do end\n${body}` : body,
    });
  declare("isNew = key, token, taken.delayUs")();
  for (const name of ["isNew", "key", "token", "taken", ".delayUs"]) {
    const body = "isNew = key, token, taken.delayUs".replace(name, name === "taken" ? "others" : "");
    assertThrows(declare(body), TypeError, `does not use '${name}'`);
  }
});

Deno.test("scripts: on the node of a cluster, messages go to subscribers on this node", () => {
  const all = { ...createScripts(), ...createThrottleScripts() };
  const sending = Object.entries(all).filter(([, { text }]) => /\bPUBLISH\b/.test(text));
  assert(sending.length > 0);
  for (const [name, { text, onNode }] of sending) {
    assertEquals([name, onNode.text.match(/\bPUBLISH\b/g)], [name, null]);
    assertEquals(onNode.text.replaceAll("SPUBLISH", "PUBLISH"), text);
  }
});

const LIBRARY = `
local q = {
  meta = KEYS[1],
  ready = prefix .. 'ready', -- used by one
  idle = prefix .. 'idle', -- used by nobody
}
q.rare = prefix .. 'rare'  -- used by two
q.never = prefix .. 'never'
local BATCH, OTHER = 1, 2
local MOST = 200  -- of keys
local FAR = 2^53 - 1
local function one()
  return three(q.ready, MOST)
end

-- Is not used.
function q.two()
  if FAR then return q.rare end
  return one()
end

function three(...)
  local function nested() end
end

function q.makeTable()
  local t = {}
  function t.alone()
    return 1
  end

  function t.open()
    t.close()
  end

  function t.close()
    return 1
  end

  return t
end
`;

Deno.test("scripts: functions and key names that a script does not use are left out", () => {
  const used = shorten(`${LIBRARY}return one()\n`);
  assertEquals(used.match(/function (?:q\.)?\w+/g), ["function one", "function three", "function nested"]);
  assertEquals(used.match(/\w+ = (?:prefix|KEYS).*/g), [
    "meta = KEYS[1],",
    "ready = prefix .. 'ready', -- used by one",
  ]);
  assertEquals(used.includes("Is not used"), false);
  assertEquals(shorten(`${LIBRARY}return three()\n`).match(/function (?:q\.)?\w+/g), [
    "function three",
    "function nested",
  ]);
  assertEquals(shorten(`${LIBRARY}return q.two()\n`).match(/function (?:q\.)?\w+/g)!.length, 4);
  assertEquals(shorten(`${LIBRARY}return q.makeTable().open()\n`).match(/function [\w.]+/g), [
    "function q.makeTable",
    "function t.open",
    "function t.close",
  ]);
});

Deno.test("scripts: constants are inlined", () => {
  const text = shorten(`${LIBRARY}return q.two()\n`);
  assert(text.includes("three(q.ready, 200)") && text.includes("if (2^53 - 1) then"));
  assertEquals(text.match(/\b(?:MOST|FAR)\b/), null);
  assert(text.includes("local BATCH, OTHER = 1, 2"));
  assert(text.includes("return (prefix .. 'rare') end"));
  assertEquals(text.match(/q\.(?:rare|never)|never/), null);
});

Deno.test("scripts: an omitted value does not compile", () => {
  const script = declareScript({
    args: { key: TEXT as Argument<"a" | "b">, count: NUMBER },
    rows: { token: TEXT },
    reply: TEXT as ReplyField<"yes">,
    body: "for token in rows() do end return reply(key, count)",
  });
  // @ts-expect-error -- without `count`
  script.write({ key: "a" }, []);
  // @ts-expect-error -- without rows
  script.write({ key: "a", count: 1 });
  // @ts-expect-error -- a row without `token`
  script.write({ key: "a", count: 1 }, [{}]);
  const read: "yes" = script.read("yes");
  assertEquals(read, "yes");
});

Deno.test("scripts: a repartition knows every structure of a partition, and no others", () => {
  const texts = Object.values(createScripts("{ 0, 0 }", true)).map(({ text }) => text);
  const names = texts.flatMap((text) => Array.from(text.matchAll(/prefix \.\. '(\w+)'/g), ([, name]) => name!));
  assertEquals([...new Set([...names, "export"])].sort(), [...STRUCTURES].sort());
});

Deno.test("scripts: EXPIRE has no options, which Redis 6.2 doesn't know", () => {
  for (const { text } of Object.values({ ...createScripts(), ...createThrottleScripts() })) {
    assertEquals(text.match(/'EXPIRE'.*'(?:NX|XX|GT|LT)'/), null);
  }
});
