import type { ConfigIssue } from "@workqueue/core";
import {
  type Alias,
  type Document,
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  Lexer,
  type Node,
  type Pair,
  parseDocument,
  Parser,
  visit,
  type YAMLError,
} from "yaml";
import { type Parsed, problemAt, type Unparsed } from "./parsed.ts";
import { Lines, locate, type Tree } from "./places.ts";

/** Value in the syntax tree. An empty value may be `null`. */
type Value = Node | null;

/** Maximum nesting depth. The parser recurses several times per level. Real configs are nested far less deeply. */
const MAX_DEPTH = 200;
/**
 * Maximum number of uses of an anchor, including uses inside other anchors. The limit prevents a small text from
 * filling the memory.
 */
const MAX_USES = 10_000;

/** Parses YAML 1.2 with the merge keys (`<<`) of YAML 1.1. */
export function parseYaml(text: string): Parsed | Unparsed {
  const lines = new Lines(text);
  const tooDeep = offsetOfTooDeep(text);
  if (tooDeep !== undefined) return { problems: [problemAt(lines.place(tooDeep), "it is nested too deeply")] };
  const yaml = parseDocument(text, { prettyErrors: false, merge: true, logLevel: "error" });
  const aliases = resolveAliases(yaml, lines);
  const problems = [
    ...[...yaml.errors, ...yaml.warnings].map((error) => problemAt(lines.place(error.pos[0]), describe(error))),
    ...aliases.problems,
  ];
  if (problems.length > 0) return { problems };
  const tree = treeOf(yaml, aliases.targets);
  return {
    document: yaml.toJS({ maxAliasCount: MAX_USES }),
    locate: ({ path }) => tree.root === null ? undefined : lines.place(locate(tree, path)),
  };
}

/**
 * Returns the offset at which a text becomes nested too deeply. Returns `undefined` if the text is not nested too
 * deeply. Reads only the tokens, without recursion.
 */
function offsetOfTooDeep(text: string): number | undefined {
  const parser = new Parser();
  for (const source of new Lexer().lex(text)) {
    for (const _ of parser.next(source)); // reading a token updates the parser's stack
    if (parser.stack.length > MAX_DEPTH) return parser.offset;
  }
  return undefined;
}

function describe({ code, message }: YAMLError): string {
  return code === "MULTIPLE_DOCS" ? "a config must contain only one document" : message;
}

/**
 * Finds the targets of all aliases in one walk. Without this walk, the parser would search the whole document for each
 * alias.
 */
function resolveAliases(yaml: Document, lines: Lines): { targets: Map<Alias, Node>; problems: ConfigIssue[] } {
  const anchors = new Map<string, Node>();
  const targets = new Map<Alias, Node>();
  const problems: ConfigIssue[] = [];
  visit(yaml, {
    Node(_key, node, path) {
      if (!isAlias(node)) {
        if (node.anchor !== undefined) anchors.set(node.anchor, node);
        return;
      }
      const { source } = node;
      const target = anchors.get(source);
      const refuse = (message: string) => problems.push(problemAt(lines.place(node.range![0]), message));
      if (target === undefined) refuse(`there is no anchor &${source} before this alias`);
      else if (path.includes(target)) refuse(`this alias stands within its own anchor &${source}`);
      else targets.set(node, target);
    },
  });
  return { targets, problems };
}

function treeOf(yaml: Document, targets: ReadonlyMap<Alias, Node>): Tree<Value> {
  const target = (value: unknown): Value => {
    const node = isAlias(value) ? targets.get(value) : value;
    return isNode(node) ? node : null;
  };
  const find = (value: Value, name: string): { name: Value; value: Value } | undefined => {
    if (isSeq(value)) {
      const element = value.items[Number(name)];
      return isNode(element) ? { name: element, value: target(element) } : undefined;
    }
    if (!isMap(value)) return undefined;
    const pair = value.items.find(({ key }) => textOf(key) === name);
    if (pair !== undefined) return { name: pair.key as Node, value: target(pair.value) };
    for (const source of value.items.filter(isMerge).map((merge) => target(merge.value))) {
      for (const merged of isSeq(source) ? source.items.map(target) : [source]) {
        const found = find(merged, name);
        if (found !== undefined) return found;
      }
    }
    return undefined;
  };
  return { root: yaml.contents as Value, offsetOf: (value) => value?.range?.[0] ?? 0, find };
}

/** Returns the name of a key in an object; `undefined` if the key is not a scalar. */
function textOf(key: unknown): string | undefined {
  return isScalar(key) && typeof key.value !== "symbol" ? String(key.value ?? "") : undefined;
}

function isMerge({ key }: Pair): boolean {
  return isScalar(key) && (key.value === "<<" || typeof key.value === "symbol");
}
