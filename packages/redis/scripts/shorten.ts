/**
 * Returns a script without the functions and the names of keys that it doesn't use, and with its constants in the
 * places where they are used. Each function, name and variable of a script takes time in each call.
 *
 * - A function begins with `local function NAME(` or `function q.NAME(`, and ends with `end`, each at the beginning of
 *   a line. So does a function of a table in another function, `function TABLE.NAME(`, each after the same number
 *   of spaces.
 * - A name of a key is a line of the table `q`: the name in Lua, and the text that follows `prefix`.
 * - A name that most calls don't use is a line of its own, which sets `q.NAME` to `prefix` and a text. The value stands
 *   where the name is used, like a constant.
 * - A constant is a local variable whose name is in capitals, and whose value is a literal or a power.
 */
export function shorten(lua: string): string {
  let rest = lua;
  for (const [line, name, value] of lua.matchAll(/^local ([A-Z_]+) = ('[^']*'|[\d.^ -]+\d)(?: *--.*)?\n/gm)) {
    rest = rest.replace(line, "").replace(
      new RegExp(`\\b${name}\\b`, "g"),
      value!.includes("^") ? `(${value})` : value!,
    );
  }
  for (const [line, name, value] of lua.matchAll(/^q\.(\w+) = (prefix \.\. '[^']*')(?: *--.*)?\n/gm)) {
    rest = rest.replace(line, "").replace(new RegExp(`\\bq\\.${name}\\b`, "g"), `(${value})`);
  }
  rest = withoutUnused(rest, /^()(?:local )?function ((?:q\.)?\w+)\(.*\n(?:.*\n)*?end\n/gm, (name) => `\\b${name}\\b`);
  rest = withoutUnused(rest, /^( +)function \w+\.(\w+)\(.*\n(?:.*\n)*?\1end\n/gm, (name) => `\\.${name}\\b`);
  const used = withoutComments(rest);
  return rest.replace(/^ {2}(\w+) = prefix \.\. '.*\n/gm, (text, name) => used.includes(`q.${name}`) ? text : "");
}

/** Returns the Lua without the functions that it doesn't use. `useOf` returns a pattern for the uses of a name. */
function withoutUnused(lua: string, functions: RegExp, useOf: (name: string) => string): string {
  const unused = new Map(Array.from(lua.matchAll(functions), ([text, , name]) => [text, new RegExp(useOf(name!))]));
  let used = withoutComments(lua);
  for (const text of unused.keys()) used = used.replace(withoutComments(text), "");
  for (let found = true; found;) {
    found = false;
    for (const [text, name] of unused) {
      if (!name.test(used)) continue;
      unused.delete(text);
      used += withoutComments(text);
      found = true;
    }
  }
  let rest = lua;
  for (const text of unused.keys()) rest = rest.replace(text, "");
  return rest;
}

function withoutComments(lua: string): string {
  return lua.replace(/--.*/g, "");
}
