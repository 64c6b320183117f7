/** Items as arguments of the command line, as in GNU parallel: `workqueue run gzip ::: a b c`. */

/** Argument that ends the command and begins the items. */
const ITEMS = ":::";

/** Reasons why other operators of GNU parallel are refused. Each follows `Cannot use` in the message. */
const REFUSED: Readonly<Record<string, string>> = {
  "::::": "name a file of items with --input",
  ":::+": "lists can't be linked; write the values of an item in one line, and use --colsep",
  "::::+": "lists can't be linked; write the values of an item in one line, and use --colsep",
};

/** Arguments of `workqueue run`, split at the first `:::`. */
export interface SplitArguments {
  /** Command and its arguments. */
  readonly command: readonly string[];
  /** Items; `undefined` if there is no `:::`. */
  readonly items: readonly string[] | undefined;
}

/** Splits the arguments of `workqueue run` at the first `:::`. */
export function splitArguments(args: readonly string[]): SplitArguments {
  const at = args.indexOf(ITEMS);
  return at === -1 ? { command: args, items: undefined } : { command: args.slice(0, at), items: args.slice(at + 1) };
}

/** Returns a sentence for each operator that can't be used. */
export function operatorFaults(args: readonly string[]): string[] {
  const { command, items } = splitArguments(args);
  const faults = Object.entries(REFUSED)
    .filter(([operator]) => args.includes(operator))
    .map(([operator, advice]) => `Cannot use '${operator}': ${advice}`);
  if (items?.includes(ITEMS)) {
    faults.unshift("Cannot use a second ':::': lists can't be combined; write all items after the first ':::'");
  }
  if (command.length === 0) faults.unshift("Cannot run: there is no command before ':::'");
  return faults;
}
