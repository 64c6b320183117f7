import { Command, Option } from "commander";
import { type FlagDeclaration, type FlagName, RUN_FLAGS, type RunFlags } from "./run_flags.ts";

const NOTES = `
In COMMAND, {} stands for the item, {.} for it without its extension, {/} for what
is after the last slash, {//} for what is before it, {/.} for both, and {#} for its
number. Without any of them the item goes to the end. No shell is involved: for
one, run sh -c '… "$1"' sh {}. The command also finds the item in WORKQUEUE_ITEM,
and the number of the attempt in WORKQUEUE_ATTEMPT, 1 the first time.

Equal lines are one item. A line that is not UTF-8, or not JSON with --json, is left
out and named at the end. An item whose retry is due goes before new lines. At most
10,000 lines are read ahead, and at most 100,000 items are delayed: an input may
have no end, with 27 to 54 bytes kept of each line that differs, and none with
--no-dedupe.

What a config says of the queue counts, and what options say counts more. A config
that changes is taken over at once. With --group-by or a discipline, groups take
turns among the lines that were read ahead.

A report begins with a line about the command and its config; --resume refuses
another. After any kill, a resumed run repeats only what was running; after a power
cut, also what ended in the last second.

Exit codes:
  0    the command succeeded for every item
  1    some items were given up, or not finished, or some lines were left out
  2    the command line, the config, a file or the command is wrong, or the output
       or the report cannot be written, as on a full disk
  130  Ctrl-C: once waits for running commands, twice kills them; or nobody reads the
       output any more, as with head
  143  SIGTERM, which does the same; 128 and its number for any other signal

Examples:
  workqueue run --input urls.txt --rate 10/s --resume report.jsonl -- curl -fsSO
  find . -name '*.wav' -print0 | workqueue run -0 -- lame {} {.}.mp3
  workqueue run --json --input users.jsonl --retries 3 -- ./invite {email}`;

/** Adds the flags and the help of `workqueue run` to a command. Default: a new command. */
export function addRunFlags(command: Command = new Command("run")): Command {
  command
    .description("Runs a command for each line of a list, and again, later, for those it fails for.")
    .usage("[options] -- COMMAND [ARG with {} …]")
    .argument("<command...>", "the command and its arguments")
    .addHelpText("after", NOTES)
    .passThroughOptions();
  for (const [name, flag] of Object.entries<FlagDeclaration>(RUN_FLAGS)) command.addOption(optionOf(name, flag));
  return command;
}

/** Returns the flags given to a command that {@linkcode addRunFlags} prepared. */
export function givenFlags(command: Command): RunFlags {
  const given: { [Name in FlagName]?: unknown } = {};
  for (const [name, flag] of Object.entries<FlagDeclaration>(RUN_FLAGS)) {
    const attribute = optionOf(name, flag).attributeName();
    if (command.getOptionValueSource(attribute) !== "cli") continue;
    const value: unknown = command.getOptionValue(attribute);
    given[name as FlagName] = typeof value === "boolean" ? flag.value : value; // a boolean means that there was no text
  }
  return given as RunFlags;
}

function optionOf(name: string, { short, takes, help, parse, shownDefault }: FlagDeclaration): Option {
  const names = short === undefined ? `--${name}` : `${short}, --${name}`;
  const description = shownDefault === undefined ? help : `${help} (default: ${shownDefault})`;
  const option = new Option(takes === undefined ? names : `${names} ${takes}`, description);
  return parse === undefined ? option : option.argParser(parse);
}
