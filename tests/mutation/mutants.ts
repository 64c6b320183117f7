/**
 * Generator of mutants: changes to a source file that break its code. The generator uses the syntax tree to find code
 * that it can change.
 */

import { parse } from "@babel/parser";

/** Change to one file. */
export interface Mutant {
  /** Path from the root of the repository. */
  readonly file: string;
  /** Line number, from 1. */
  readonly line: number;
  /** Replaced range in UTF-16 code units, from `start` up to but not including `end`. */
  readonly start: number;
  readonly end: number;
  readonly replacement: string;
  /** Source of the file before the change. */
  readonly source: string;
}

/** Returns the source of the file with the change applied. */
export function broken({ source, start, end, replacement }: Mutant): string {
  return source.slice(0, start) + replacement + source.slice(end);
}

/** Node of the tree, of any type. */
interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly loc: { readonly start: { readonly line: number } };
  // deno-lint-ignore no-explicit-any -- each node type has different fields
  readonly [field: string]: any;
}

const OPERATORS: Readonly<Record<string, readonly string[]>> = {
  "<": ["<=", ">="],
  "<=": ["<", ">"],
  ">": [">=", "<="],
  ">=": [">", "<"],
  "===": ["!=="],
  "!==": ["==="],
  "+": ["-"],
  "-": ["+"],
  "*": ["/"],
  "/": ["*"],
  "%": ["*"],
  "**": ["*"],
  "&": ["|"],
  "<<": [">>"],
  ">>": ["<<"],
  ">>>": ["<<"],
  "&&": ["||"],
  "||": ["&&"],
  "??": ["&&"],
  "++": ["--"],
  "--": ["++"],
  "+=": ["-="],
  "-=": ["+="],
  "??=": ["="],
};

const METHODS: Readonly<Record<string, string>> = {
  min: "max",
  max: "min",
  ceil: "floor",
  floor: "ceil",
  trunc: "ceil",
  round: "floor",
  every: "some",
  some: "every",
  find: "findLast",
  startsWith: "endsWith",
  has: "delete",
};

/** Types of nodes that are left alone: nodes without effect at run time, imports and re-exports. */
const SILENT = /^(TS(?!AsExpression|NonNullExpression|SatisfiesExpression)|Import|ExportAll)/;

/** Returns all mutants of a file. */
export function mutantsOf(file: string, source: string): Mutant[] {
  const mutants: Mutant[] = [];
  const text = (node: Node) => source.slice(node.start, node.end);
  const replace = (node: Node, replacement: string, start = node.start, end = node.end) => {
    mutants.push({ file, line: source.slice(0, start).split("\n").length, start, end, replacement, source });
  };

  /** Replaces the first `operator` at or after the position `after`. */
  const replaceOperator = (node: Node, after: number, operator: string) => {
    const start = source.indexOf(operator, after);
    for (const other of OPERATORS[operator] ?? []) replace(node, other, start, start + operator.length);
  };

  const breakNode: Record<string, (node: Node) => void> = {
    ExpressionStatement: (node) => replace(node, ";"),
    ReturnStatement(node) {
      const { argument } = node;
      if (argument === null) replace(node, ";");
      // The mutant returns `undefined`, which callers can't distinguish from these values.
      else if (!["undefined", "false"].includes(text(argument))) replace(node, "return undefined as never;");
    },
    ThrowStatement: (node) => replace(node, ";"),
    BreakStatement: (node) => replace(node, ";"),
    ContinueStatement: (node) => replace(node, ";"),
    ForOfStatement: (node) => replace(node, ";"),
    IfStatement(node) {
      replace(node["test"], "true");
      replace(node["test"], "false");
    },
    ConditionalExpression: (node) => replace(node["test"], `!(${text(node["test"])})`),
    WhileStatement: (node) => replace(node["test"], "false"),
    BinaryExpression: (node) => replaceOperator(node, node["left"].end, node["operator"]),
    LogicalExpression(node) {
      replaceOperator(node, node["left"].end, node["operator"]);
      replace(node, text(node["left"]));
      if (node["operator"] !== "??") replace(node, text(node["right"]));
    },
    UpdateExpression: (node) => replaceOperator(node, node.start, node["operator"]),
    AssignmentExpression: (node) => replaceOperator(node, node["left"].end, node["operator"]),
    UnaryExpression(node) {
      if (["!", "-"].includes(node["operator"])) replace(node, text(node["argument"]));
    },
    AwaitExpression: (node) => replace(node, text(node["argument"])),
    BooleanLiteral: (node) => replace(node, String(!node["value"])),
    NumericLiteral: (node) =>
      replace(node, node["value"] === 0 ? "1" : node["value"] === 1 ? "0" : `${text(node)} + 1`),
    StringLiteral: (node) => replace(node, node["value"] === "" ? '"broken"' : '""'),
    TemplateLiteral(node) {
      for (const quasi of node["quasis"]) if (quasi.end > quasi.start) replace(quasi, "");
    },
    OptionalMemberExpression(node) {
      if (node["optional"]) replace(node, ".", node["object"].end, source.indexOf("?.", node["object"].end) + 2);
    },
    CallExpression(node) {
      const { callee } = node;
      const other = callee.type === "MemberExpression" && METHODS[callee["property"]["name"]];
      if (other) replace(callee["property"], other);
      node["arguments"].forEach((argument: Node, i: number) => {
        const isLast = i === node["arguments"].length - 1;
        if (i > 0 && isLast) replace(argument, "", node["arguments"][i - 1].end, argument.end);
      });
    },
    ObjectExpression(node) {
      for (const property of node["properties"]) {
        const comma = /^\s*,/.exec(source.slice(property.end));
        replace(property, "", property.start, property.end + (comma?.[0].length ?? 0));
      }
    },
  };
  breakNode["OptionalCallExpression"] = breakNode["CallExpression"]!;

  const isFunction = (node: Node) => /Function|Method/.test(node.type) && node["body"]?.type === "BlockStatement";

  const visit = (node: Node) => {
    if (SILENT.test(node.type)) return;
    if (node.type === "ExportNamedDeclaration" && node["source"]) return;
    if (node.type === "VariableDeclaration" && node["declare"]) return;
    breakNode[node.type]?.(node);
    if (isFunction(node) && node["kind"] !== "constructor" && node["body"].body.length > 0) {
      const start = node["body"].start + 1;
      replace(node, "\nreturn undefined as never;", start, start);
    }
    for (const [field, child] of Object.entries(node)) {
      // Skips fields that contain names or types, not expressions.
      if (
        ["loc", "typeAnnotation", "returnType", "typeParameters", "typeArguments", "extra", "errors"].includes(field)
      ) {
        continue;
      }
      if (field === "key" && node["computed"] !== true) continue;
      for (const each of Array.isArray(child) ? child : [child]) if (typeof each?.type === "string") visit(each);
    }
  };
  visit(parse(source, { sourceType: "module", plugins: ["typescript"] }).program as unknown as Node);
  return mutants;
}
