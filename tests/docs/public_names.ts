/** Names that the packages export, and the members of exported types, as `deno doc` reports them. */

import { ROOT, run } from "../../release/commands.ts";

/** Part of a declaration. Only the fields that this file uses are typed. */
interface Part {
  readonly [field: string]: unknown;
}

/** Exported name of a module, with its declarations. */
interface DocumentedSymbol {
  readonly name: string;
  readonly declarations: readonly { readonly kind: string; readonly def: Part }[];
}

interface Documentation {
  readonly nodes: Readonly<Record<string, { readonly symbols: readonly DocumentedSymbol[] }>>;
}

/** Public names of the packages. */
export interface PublicNames {
  /** Exports of all entries. */
  readonly exports: ReadonlySet<string>;
  /** Members of an exported type, including the inherited ones. */
  membersOf(type: string): ReadonlySet<string>;
  /** Members of all exported types, and properties of the parameters of all exported functions. */
  readonly members: ReadonlySet<string>;
}

/** Returns the public names of all packages. */
export async function publicNames(): Promise<PublicNames> {
  const symbols = await publicSymbols();
  const types = new Map<string, { members: Set<string>; parents: string[] }>();
  for (const { name, declarations } of symbols) {
    const type = types.get(name) ?? { members: new Set(), parents: [] };
    for (const { def } of declarations) {
      for (const member of membersIn(def)) type.members.add(member);
      type.parents.push(...parentsOf(def));
    }
    types.set(name, type);
  }
  function membersOf(type: string, seen: Set<string> = new Set()): Set<string> {
    const found = types.get(type);
    if (found === undefined || seen.has(type)) return new Set();
    seen.add(type);
    return new Set([...found.members, ...found.parents.flatMap((parent) => [...membersOf(parent, seen)])]);
  }
  return {
    exports: new Set(types.keys()),
    membersOf: (type) => membersOf(type),
    members: new Set([...types.values()].flatMap(({ members }) => [...members])),
  };
}

/** Returns the exports of all entries. Re-exported names are looked up in the modules that declare them. */
async function publicSymbols(): Promise<DocumentedSymbol[]> {
  const entries = await document(entryFiles());
  const exported = Object.values(entries.nodes).flatMap(({ symbols }) => symbols);
  const files = new Set<string>();
  const targets = exported.flatMap(({ name, declarations }) =>
    declarations.filter(({ kind }) => kind === "reference").map(({ def }) => {
      const { filename } = def["target"] as { filename: string };
      files.add(filename);
      return { name, filename };
    })
  );
  const { nodes } = await document([...files]);
  const declared = targets.flatMap(({ name, filename }) =>
    nodes[filename]!.symbols.filter((each) => each.name === name)
  );
  return [...exported, ...declared];
}

function entryFiles(): string[] {
  const folders = [".", ...[...Deno.readDirSync(new URL("packages/", ROOT))].map(({ name }) => `packages/${name}`)];
  return folders.flatMap((folder) => {
    const { exports } = JSON.parse(Deno.readTextFileSync(new URL(`${folder}/deno.json`, ROOT)));
    return Object.entries<string>(typeof exports === "string" ? { ".": exports } : exports)
      .filter(([entry]) => !entry.startsWith("./internal")).map(([, file]) => `${folder}/${file}`);
  });
}

async function document(files: readonly string[]): Promise<Documentation> {
  const { stdout } = await run(
    Deno.execPath(),
    ["doc", "--json", "--quiet", "--config", "deno.all.json", ...files],
    ROOT,
  );
  return JSON.parse(stdout);
}

/** Returns the names of the methods and properties in a declaration, at any depth. */
function membersIn(part: unknown): string[] {
  if (Array.isArray(part)) return part.flatMap(membersIn);
  if (typeof part !== "object" || part === null) return [];
  const { properties, methods } = part as { properties?: unknown; methods?: unknown };
  const own = [properties, methods].flatMap((list) => Array.isArray(list) ? list : [])
    .flatMap(({ name }) => typeof name === "string" ? [name] : []);
  return [...own, ...Object.values(part).flatMap(membersIn)];
}

/** Returns the names of the types that a declaration extends, and those that a type alias refers to. */
function parentsOf(def: Part): string[] {
  return namesOfTypes([def["extends"], def["implements"], def["superClass"], def["tsType"]]);
}

function namesOfTypes(part: unknown): string[] {
  if (typeof part === "string") return [part];
  if (Array.isArray(part)) return part.flatMap(namesOfTypes);
  if (typeof part !== "object" || part === null) return [];
  const { typeName } = part as { typeName?: unknown };
  return [...typeof typeName === "string" ? [typeName] : [], ...Object.values(part).flatMap(namesOfTypes)];
}
