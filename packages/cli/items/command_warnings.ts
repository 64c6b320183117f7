import { posix } from "node:path";

/** Shells, whose option `-c` takes a script. */
const SHELLS = /^(?:sh|bash|dash|zsh|ksh|ash)$/;
/** Option of a shell, alone or with others, after which the script follows. */
const SCRIPT_OPTION = /^-[a-z]*c[a-z]*$/i;
/** Option of a shell that takes a value. */
const OPTION_WITH_VALUE = /^[-+][a-z]*o$/i;
/** Actions of `find` that run a command, in which `{}` is for `find`. */
const FIND_ACTION = /(?<![\w-])-(?:exec|ok)(?:dir)?\s.*?\{\}/s;

/**
 * Returns warnings about placeholders at which an item is not an argument of its own.
 *
 * @param command The command and its arguments.
 * @param placeholder The pattern of placeholders. Its second group is an operation, such as `/` in `{/}`.
 */
export function warningsAbout(command: readonly string[], placeholder: RegExp): string[] {
  const warnings: string[] = [];
  const found = command.flatMap((_, i) => scriptAfter(command, i)).flatMap((script) => texts(script, placeholder))[0];
  if (found !== undefined) {
    warnings.push(
      `${found} in the script after -c: text of the item can run as code; write sh -c '… "$1"' sh ${found}`,
    );
  }
  if (placeholder.test("{}") && FIND_ACTION.test(command.join(" "))) {
    warnings.push(
      "{} after -exec is the item, not a file that find has found; choose another placeholder, such as -I ,,",
    );
  }
  return warnings;
}

/** Returns the script of the shell at this place of the command; nothing if there is no shell or no script. */
function scriptAfter(command: readonly string[], at: number): string[] {
  if (!SHELLS.test(posix.basename(command[at]!))) return [];
  for (let i = at + 1; /^[-+]/.test(command[i] ?? ""); i++) {
    if (SCRIPT_OPTION.test(command[i]!)) return command.slice(i + 1, i + 2);
    if (OPTION_WITH_VALUE.test(command[i]!)) i++;
  }
  return [];
}

/** Returns the placeholders in a script that stand for text of the item. Numbers are harmless. */
function texts(script: string, placeholder: RegExp): string[] {
  return [...script.matchAll(new RegExp(placeholder, `${placeholder.flags}g`))]
    .filter(([_whole, _field, operation]) => !/^[#%]$/.test(operation!))
    .map(([whole]) => whole);
}
