import { assertEquals } from "@std/assert";
import { hasLuacheck, luaProblems, scriptSources } from "./lua.ts";

Deno.test({
  name: "Lua: unknown names, unused names and values that nothing reads are found, in the file that has them",
  ignore: !hasLuacheck,
  fn() {
    const [script, ...others] = scriptSources().filter(({ main }) => main.includes("--#file counts"));
    assertEquals(others, []);
    const from = {
      text: "local ready = redis.call('ZCARD', q.ready)",
      in: script!.main,
    };
    const planted = from.in.replace(
      from.text,
      () => "local unread = 1\nlocal ready = redis.call('ZCARD', q.ready) + knwon",
    );
    assertEquals(
      luaProblems([{ ...script!, main: planted }]).filter((problem) => problem.includes("set_numbers")),
      [
        "packages/redis/lua/set_numbers.lua:5: (W211) unused variable 'unread'",
        "packages/redis/lua/set_numbers.lua:6: (W113) accessing undefined variable 'knwon'",
      ],
    );
  },
});

Deno.test({
  name: "Lua: a script lacks functions that are not in its own declaration",
  ignore: !hasLuacheck,
  fn() {
    const sources = scriptSources().map((source) => {
      return source.main.includes("--#file forget\n") ? { ...source, functions: "" } : source;
    });
    assertEquals(luaProblems(sources), [
      "packages/redis/lua/forget.lua:1: (W113) accessing undefined variable 'limiter_forget'",
    ]);
  },
});
