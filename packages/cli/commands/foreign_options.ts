/**
 * Hints for options of xargs and GNU parallel that `workqueue run` doesn't have. Each hint comes before the options
 * that it is for. An option of one letter stands for all its forms, such as `-n1` and `-n 1`.
 */
export const FOREIGN_OPTIONS: readonly (readonly [hint: string, ...options: string[]])[] = [
  ["Use --input.", "-a", "--arg-file"],
  ["An item is a whole line; use --null if items end with NUL.", "-d", "--delimiter"],
  ["Use --colsep.", "-C"],
  ["Write the values of an item in one line, and use --colsep.", "--link", "--xapply"],
  ["Convert the table to JSON objects, one per line, and use --json.", "--csv", "--header"],
  ["Leave it out: an empty list runs no command.", "-r", "--no-run-if-empty"],
  ["Shuffle the list first, for example with shuf.", "--shuf"],
  [
    "Leave it out: each command gets one item.",
    ...["-l", "-L", "--max-lines", "-n", "--max-args", "-N", "--max-replace-args"],
    ...["-s", "--max-chars", "-m", "-X", "--xargs"],
  ],
  ["Write {} in the command, or use -I.", "-i"],
  ["Write {%} in the command.", "--process-slot-var"],
  ["Leave it out: no shell is involved.", "-q", "--quote"],
  [
    "Commands have no standard input: write the parts to files, and let the list name the files.",
    ...["--pipe", "--spreadstdin", "--pipe-part", "--pipepart", "--block"],
  ],
  ["Use --concurrency.", "--jobs", "--max-procs"],
  ["Use --rate, such as --rate 10/s.", "--delay"],
  [
    "Set --concurrency, and change it during the run with --serve or --config.",
    ...["--load", "--memfree", "--memsuspend", "--noswap", "--limit"],
  ],
  ["Write nice before workqueue.", "--nice"],
  ["Change the directory before workqueue starts.", "--workdir", "--wd"],
  ["Commands run only on this machine.", "-S", "--sshlogin", "--sshloginfile", "--slf"],
  ["Use --halt.", "--halt-on-error"],
  ["Use --report.", "--joblog"],
  ["Use --resume.", "--resume-failed", "--retry-failed"],
  ["Use --tag.", "--tagstring"],
  ["Use --line-buffer.", "-u", "--ungroup", "--lb", "--linebuffer"],
  ["Use --results.", "--files", "--res"],
  ["Leave it out: progress is shown on a terminal and, from time to time, in a log.", "--bar", "--eta", "--progress"],
  ["Use --dry-run.", "--dryrun"],
  ["Use --dry-run to see the commands first.", "-p", "--interactive", "-t", "-v", "--verbose"],
];

/** Adds the hint, if there is one, to an error message about an unknown option. */
export function withHint(message: string): string {
  const [start, option] = /^error: unknown option '(.*)'/.exec(message) ?? [];
  if (option === undefined) return message;
  const name = option.startsWith("--") ? option.split("=")[0]! : option.slice(0, 2);
  const hint = FOREIGN_OPTIONS.find(([_, ...options]) => options.includes(name))?.[0];
  return hint === undefined ? message : `${start}\n(${hint})\n`;
}
