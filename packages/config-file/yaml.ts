import type { ConfigIssue } from "@workqueue/core";
import {
  type Alias,
  Composer,
  CST,
  type Document,
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  Lexer,
  type Node,
  type Pair,
  Parser,
  visit,
} from "yaml";
import { MAX_DEPTH, type Parsed, problemAt, TOO_DEEP, type Unparsed } from "./parsed.ts";
import { Lines, locate, type Tree } from "./places.ts";

/** Value in the syntax tree. An empty value may be `null`. */
type Value = Node | null;

/**
 * Maximum number of aliases in a document after expansion: if an anchored value contains aliases, they are counted
 * again for each use of the anchor. The limit prevents a small file from expanding until memory is full.
 */
const MAX_USES = 10_000;

const TWO_DOCUMENTS = "a config must contain only one document";

/** Parses YAML 1.2 with the merge keys (`<<`) of YAML 1.1. */
export function parseYaml(text: string): Parsed | Unparsed {
  const lines = new Lines(text);
  const { tokens, tooDeep } = tokensOf(text);
  if (tooDeep !== undefined) return { problems: [problemAt(lines.place(tooDeep), TOO_DEEP)] };
  const composer = new Composer({ prettyErrors: false, merge: true, logLevel: "error" });
  const [yaml, second] = [...composer.compose(tokens, true, text.length)] as [Document.Parsed, Document.Parsed?];
  const aliases = resolveAliases(yaml, lines);
  const problems = [
    ...[...yaml.errors, ...yaml.warnings].map(({ pos, message }) => problemAt(lines.place(pos[0]), message)),
    ...(second === undefined ? [] : [problemAt(lines.place(second.range[0]), TWO_DOCUMENTS)]),
    ...aliases.problems,
  ];
  if (problems.length > 0) return { problems };
  const tree = treeOf(yaml, aliases.targets);
  return {
    document: yaml.toJS({ maxAliasCount: -1 }), // limited by `resolveAliases`
    locate: ({ path }) => lines.place(locate(tree, path)),
  };
}

/**
 * Returns the tokens of a text, and the offset at which the text becomes nested too deeply, if any. Doesn't use
 * recursion. The depth must be checked before the document is composed, because composing it uses recursion.
 */
function tokensOf(text: string): { tokens: CST.Token[]; tooDeep?: number } {
  const tokens: CST.Token[] = [];
  const parser = new Parser();
  for (const lexeme of lexemesOf(text)) {
    for (const token of parser.next(lexeme)) tokens.push(token);
    if (parser.stack.length > MAX_DEPTH) return { tokens, tooDeep: parser.offset };
  }
  for (const token of parser.end()) tokens.push(token);
  return { tokens };
}

/**
 * Yields the lexemes of a text. Comments on consecutive lines with the same indentation are one lexeme, because the
 * parser takes several seconds for a few million lexemes.
 */
function* lexemesOf(text: string): Generator<string> {
  let indent: string | undefined = ""; // spaces before this lexeme, or `undefined` if it is not the first of its line
  let comment: { indent: string; text: string } | undefined;
  let blanks: string[] = []; // lexemes after `comment`: line breaks and spaces
  let isScalar = false;
  for (const lexeme of new Lexer().lex(text)) {
    const first = isScalar ? undefined : lexeme[0];
    const isBreak = first === "\n" || first === "\r";
    const isIndent: boolean = first === " " && indent === "" && !lexeme.includes("\t");
    const isComment = first === "#" && indent !== undefined;
    if (comment !== undefined && isComment && comment.indent === indent) {
      comment.text += blanks.join("") + lexeme;
      blanks = [];
    } else if (comment !== undefined && (isBreak || isIndent)) blanks.push(lexeme);
    else {
      if (comment !== undefined) yield* [comment.text, ...blanks];
      comment = isComment ? { indent: indent!, text: lexeme } : undefined;
      blanks = [];
      if (!isComment) yield lexeme;
    }
    indent = isBreak ? "" : isIndent ? lexeme : undefined;
    isScalar = lexeme === CST.SCALAR;
  }
  if (comment !== undefined) yield* [comment.text, ...blanks];
}

/**
 * Finds the targets of all aliases in one walk. Without this walk, the parser would search the whole document for each
 * alias.
 */
function resolveAliases(yaml: Document, lines: Lines): { targets: Map<Alias, Node>; problems: ConfigIssue[] } {
  const anchors = new Map<string, Node>();
  const targets = new Map<Alias, Node>();
  const problems: ConfigIssue[] = [];
  const refuse = (node: Node, message: string) => void problems.push(problemAt(lines.place(node.range![0]), message));
  /** Number of aliases, after expansion, inside each anchored value. */
  const inside = new Map<unknown, number>();
  let uses = 0;
  visit(yaml, {
    Node(_key, node, path) {
      if (!isAlias(node)) {
        if (node.anchor !== undefined) anchors.set(node.anchor, node);
        return;
      }
      const { source } = node;
      const target = anchors.get(source);
      if (target === undefined) return refuse(node, `there is no anchor &${source} before this alias`);
      if (path.includes(target)) return refuse(node, `this alias stands within its own anchor &${source}`);
      targets.set(node, target);
      const added = 1 + (inside.get(target) ?? 0);
      for (const outer of path) {
        if (isNode(outer) && outer.anchor !== undefined) inside.set(outer, (inside.get(outer) ?? 0) + added);
      }
      uses += added;
      if (uses <= MAX_USES) return;
      refuse(node, `here, aliases have been used more than ${MAX_USES.toLocaleString("en")} times`);
      return visit.BREAK;
    },
    Pair(_key, pair) {
      if (!isMerge(pair)) return;
      const resolve = (value: unknown) => isAlias(value) ? anchors.get(value.source) : value;
      const source = resolve(pair.value);
      const sources = isSeq(source) ? source.items.map(resolve) : [source];
      if (sources.every((each) => each === undefined || isMap(each))) return;
      refuse(pair.key as Node, "'<<' must be an object, an alias of an object, or a list of these");
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

/** Returns an object's key as a string; `undefined` if the key is not a scalar. */
function textOf(key: unknown): string | undefined {
  return isScalar(key) && typeof key.value !== "symbol" ? String(key.value ?? "") : undefined;
}

function isMerge({ key }: Pair): boolean {
  return isScalar(key) && key.type === "PLAIN" && (key.value === "<<" || typeof key.value === "symbol");
}
