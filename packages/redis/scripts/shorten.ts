/**
 * Returns a script without the functions and the names of keys that it doesn't use, and with its constants in the
 * places where they are used. Each function, name and variable of a script takes time in each call.
 *
 * - A function begins with `local function NAME(` or `function q.NAME(`, and ends with `end`, each at the beginning of
 *   a line.
 * - A name of a key is a line of the table `q`: the name in Lua, and the text that follows `prefix`.
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
  const functions = rest.matchAll(/^(?:local )?function ((?:q\.)?\w+)\(.*\n(?:.*\n)*?end\n/gm);
  const unused = new Map(Array.from(functions, ([text, name]) => [text, new RegExp(`\\b${name}\\b`)]));
  let used = withoutComments(rest);
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
  for (const text of unused.keys()) rest = rest.replace(text, "");
  return rest.replace(/^ {2}(\w+) = prefix \.\. '.*\n/gm, (text, name) => used.includes(`q.${name}`) ? text : "");
}

function withoutComments(lua: string): string {
  return lua.replace(/--.*/g, "");
}
