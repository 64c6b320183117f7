/**
 * Returns a script without comments, and without the functions and the names of keys that it doesn't use. Its constants
 * are in the places where they are used. Each function, name and variable of a script takes time in each call.
 *
 * - A function begins with `local function NAME(` or `function q.NAME(`, and ends with `end`, each at the beginning of
 *   a line. `function q.NAME(` and its `end` may also come after two spaces. A function of another table in a function
 *   begins with `function TABLE.NAME(` and also ends with `end`, each after the same number of spaces.
 * - A name of a key is a line of the table `q`: the name in Lua, and the text that follows `prefix`.
 * - A name that most calls don't use is a line of its own, which sets `q.NAME` to `prefix` and a text. The value stands
 *   where the name is used, like a constant.
 * - A constant is a local variable whose name is in capitals, and whose value is a literal, a power or a list.
 */
export function shorten(lua: string): string {
  const constants = new Map<string, string>();
  const code = lua.replace(/^ *--.*\n/gm, "");
  const constant = /^local ([A-Z_]+) = ('[^']*'|\{[^}]*\}|true|false|[\d.^ -]*\d)(?: *--.*)?\n/gm;
  let rest = code.replace(constant, (_line, name, value) => {
    constants.set(name, value.includes("^") ? `(${value})` : value);
    return "";
  });
  rest = rest.replace(/\b[A-Z_]+\b/g, (name) => constants.get(name) ?? name);
  const rareKeys = new Map<string, string>();
  rest = rest.replace(/^q\.(\w+) = (prefix \.\. '[^']*')(?: *--.*)?\n/gm, (_line, name, value) => {
    rareKeys.set(name, `(${value})`);
    return "";
  });
  rest = rest.replace(/\bq\.(\w+)/g, (use, name) => rareKeys.get(name) ?? use);
  rest = withoutUnused(rest, /^((?: {2}(?=function q\.))?)(?:local )?function ((?:q\.)?\w+)\(.*\n(?:.*\n)*?\1end\n/gm);
  rest = withoutUnused(rest, /^( +)function (?!q\.)\w+(\.\w+)\(.*\n(?:.*\n)*?\1end\n/gm);
  const used = usesIn(rest);
  return rest.replace(/^ {2}(\w+) = prefix \.\. '.*\n/gm, (text, name) => used.has(`q.${name}`) ? text : "");
}

/**
 * Returns the Lua without the functions that it doesn't use. The second group of the pattern is the name by which a
 * function is used: `NAME`, `q.NAME` or `.NAME`.
 */
function withoutUnused(lua: string, functions: RegExp): string {
  const unused = new Map<string, string>();
  const used = usesIn(lua.replace(functions, (text, _indent, name) => {
    unused.set(text, name);
    return "";
  }));
  for (let found = true; found;) {
    found = false;
    for (const [text, name] of unused) {
      if (!used.has(name)) continue;
      unused.delete(text);
      for (const use of usesIn(text)) used.add(use);
      found = true;
    }
  }
  return lua.replace(functions, (text) => unused.has(text) ? "" : text);
}

/** Returns the names that Lua uses outside comments. A name after a dot is also in the form `.NAME` or `q.NAME`. */
function usesIn(lua: string): Set<string> {
  const uses = new Set(lua.replace(/--.*/g, "").match(/(?:\bq\.|\.)?\w+/g));
  for (const use of [...uses]) {
    const dot = use.indexOf(".");
    if (dot >= 0) uses.add(use.slice(dot)).add(use.slice(dot + 1));
  }
  return uses;
}
