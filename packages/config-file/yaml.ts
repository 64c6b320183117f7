import type { ConfigIssue } from "@workqueue/core";
import {
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

/** What stands in a tree: empty values may be `null`. */
type Value = Node | null;

/** How deep a text may be nested: the parser calls itself for each level. */
const MAX_DEPTH = 1000;

/** YAML 1.2, with the merge keys (`<<`) of 1.1. */
export function parseYaml(text: string): Parsed | Unparsed {
  const lines = new Lines(text);
  const tooDeep = offsetOfTooDeep(text);
  if (tooDeep !== undefined) return { problems: [problemAt(lines.place(tooDeep), "it is nested too deeply")] };
  const yaml = parseDocument(text, { prettyErrors: false, merge: true });
  const problems = [
    ...[...yaml.errors, ...yaml.warnings].map((error) => problemAt(lines.place(error.pos[0]), describe(error))),
    ...unknownAliases(yaml, lines),
  ];
  if (problems.length > 0) return { problems };
  const tree = treeOf(yaml);
  return {
    document: yaml.toJS(),
    locate: ({ path }) => tree.root === null ? undefined : lines.place(locate(tree, path)),
  };
}

/** Where a text goes too deep, if it does. Only its tokens are read for that, without recursion. */
function offsetOfTooDeep(text: string): number | undefined {
  const parser = new Parser();
  for (const source of new Lexer().lex(text)) {
    for (const _ of parser.next(source)); // which works as it is read
    if (parser.stack.length > MAX_DEPTH) return parser.offset;
  }
  return undefined;
}

function describe({ code, message }: YAMLError): string {
  return code === "MULTIPLE_DOCS" ? "another document begins, and a config is only one" : message;
}

/** Else the parser would only say that there is one. */
function unknownAliases(yaml: Document, lines: Lines): ConfigIssue[] {
  const problems: ConfigIssue[] = [];
  visit(yaml, {
    Alias(_key, alias) {
      if (alias.resolve(yaml) !== undefined) return;
      problems.push(problemAt(lines.place(alias.range![0]), `there is no anchor &${alias.source} before this alias`));
    },
  });
  return problems;
}

function treeOf(yaml: Document): Tree<Value> {
  const target = (value: unknown): Value => {
    const node = isAlias(value) ? value.resolve(yaml) : value;
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

/** The name that a key is in an object. */
function textOf(key: unknown): string | undefined {
  return isScalar(key) && typeof key.value !== "symbol" ? String(key.value ?? "") : undefined;
}

function isMerge({ key }: Pair): boolean {
  return isScalar(key) && (key.value === "<<" || typeof key.value === "symbol");
}
