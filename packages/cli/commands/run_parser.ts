import { Command, Option } from "commander";
import { withHint } from "./foreign_options.ts";
import { type FlagDeclaration, type FlagName, RUN_FLAGS, type RunFlags } from "./run_flags.ts";

const NOTES = `
Placeholders in COMMAND:
  {}      the item
  {.}     the item without its extension
  {/}     the part after the last slash
  {//}    the part before the last slash
  {/.}    the part after the last slash, without its extension
  {#}     the number of the item, 1 for the first
  {%}     the slot: the lowest number, from 1, that no running command has
  {name}  with --json, the member of that name
  {2}     with --colsep, the second column; {2.}, {2/} … are parts of its path

With --json, only {}, {#}, {%} and {name} are valid. Without a placeholder, the
item is appended to the command. No shell is involved; if you need one, run
sh -c '… "$1"' sh {}. The command also finds the item in WORKQUEUE_ITEM, and the
number of the attempt in WORKQUEUE_ATTEMPT, 1 for the first. With -I @, the
placeholders are @, @., @/, @//, @/., @# and @%, and {} is text.

If the arguments contain :::, the first one ends the command, each argument
after it is an item, and no list is read.

Equal lines are one item. Lines that are not UTF-8 are refused. With --json,
lines that are not objects, or that lack a member that the command names, are
also refused; with --colsep, lines that lack a column that the command names.
Refused lines are listed at the end. A retry that is due goes before items
without an attempt. The input may be endless: at most 10,000 lines are read
ahead, and at most 100,000 items are delayed. A run keeps 27 to 54 bytes for
each distinct line, or nothing with --no-dedupe.

Options override the config of the queue. When the config file changes, the run
follows it at once. With --group-by or a discipline, groups take turns among the
lines that are read ahead.

Ctrl-Z also stops the running commands, until fg or SIGCONT. Stopped time does
not count for --timeout.

A report begins with a line about the command and its config. --resume refuses a
report of another command or config. A resumed run skips succeeded items. It
runs all other items, given-up ones too, and does not know their delays. After
any kill, it repeats succeeded items only with --group or --keep-order, if their
output was not printed yet; after a power cut, also items that ended in the last
second.

With --queue jobs.db, the list is added to a queue in a file, and the run works
until the queue is empty. If the run is interrupted or killed, start it without a
list to go on: at a terminal, with an empty standard input, or with ::: and no
items. Several runs may share a file. Items of a killed run come back after 30
seconds. Requires Deno, Bun, or Node 22.13 or later.

Exit codes:
  0    the command succeeded for every item
  1    some items were given up or are unfinished, or some lines were refused
  2    the command line, the config, a file or the command is wrong, or the
       output, the report or the trace cannot be written, for example on a full
       disk
  130  Ctrl-C (once waits for running commands, twice kills them), or the reader
       of the output, such as head, has exited
  143  SIGTERM, which does the same as Ctrl-C; for any other signal, 128 plus
       its number

Examples:
  workqueue run --input urls.txt --rate 10/s --resume report.jsonl -- curl -fsSO
  find . -name '*.wav' -print0 | workqueue run -0 -- lame {} {.}.mp3
  workqueue run --json --input users.jsonl --retries 3 -- ./invite {email}
  workqueue run -j50% gzip ::: *.log
  workqueue run --queue jobs.db --input urls.txt -- curl -fsSO`;

/** Adds the flags and the help of `workqueue run` to a command. Default: a new command. */
export function addRunFlags(command: Command = new Command("run")): Command {
  command
    .description("Run a command for each line of a list, and retry failed items with backoff.")
    .usage("[options] -- COMMAND [ARG with {} …] [::: ITEM …]")
    .argument("<command...>", "the command and its arguments")
    .addHelpText("after", NOTES)
    .configureOutput({ outputError: (message, write) => write(withHint(withUsage(message, command))) })
    .passThroughOptions();
  for (const name of Object.keys(RUN_FLAGS) as FlagName[]) addFlag(command, name);
  return command;
}

/** Returns the flags given to a command that {@linkcode addRunFlags} prepared. */
export function givenFlags(command: Command): RunFlags {
  const given: { [Name in FlagName]?: unknown } = {};
  for (const [name, flag] of Object.entries<FlagDeclaration>(RUN_FLAGS)) {
    const attribute = optionOf(name, flag).attributeName();
    if (command.getOptionValueSource(attribute) !== "cli") continue;
    const value: unknown = command.getOptionValue(attribute);
    // A boolean means that the flag was given without a value.
    given[name as FlagName] = typeof value === "boolean" ? flag.value : value;
  }
  return given as RunFlags;
}

/** Adds the usage to an error message about a missing command. */
function withUsage(message: string, command: Command): string {
  if (!message.startsWith("error: missing required argument")) return message;
  const name = `${command.parent?.name() ?? "workqueue"} ${command.name()}`;
  return `${message}\nUsage: ${name} ${command.usage()}\n\nList all options with ${name} --help.\n`;
}

/** Adds a flag of `workqueue run` to a command. */
export function addFlag(command: Command, name: FlagName): void {
  const flag: FlagDeclaration = RUN_FLAGS[name];
  const option = optionOf(name, flag);
  command.addOption(option);
  if (flag.alias === undefined) return;
  // Commander allows only one short name, so the alias is a hidden option that sets the value of the first option.
  const alias = new Option(`${flag.alias} ${flag.takes}`).hideHelp().argParser((text) =>
    command.setOptionValueWithSource(option.attributeName(), flag.parse!(text), "cli")
  );
  command.addOption(alias);
  option.flags = option.flags.replace(",", `, ${flag.alias},`);
}

function optionOf(name: string, { short, takes, help, parse, shownDefault }: FlagDeclaration): Option {
  const names = short === undefined ? `--${name}` : `${short}, --${name}`;
  const description = shownDefault === undefined ? help : `${help} (default: ${shownDefault})`;
  const option = new Option(takes === undefined ? names : `${names} ${takes}`, description);
  return parse === undefined ? option : option.argParser(parse);
}
