import { readFileSync } from "node:fs";

/** Process, as `/proc` describes it. */
interface ProcessFacts {
  readonly parent: number;
  readonly group: number;
  readonly session: number;
  /** Process group in the foreground of the process's terminal; -1 if the process has no terminal. */
  readonly foreground: number;
}

/**
 * Reports whether Ctrl-Z reaches this process although no shell could continue it: the process is in the foreground of
 * a terminal, and its group is orphaned. Examples are `docker exec -it`, `ssh -t` with a command, and a window of tmux
 * that runs a command instead of a shell. For the same reason, the system doesn't stop such a process on Ctrl-Z if the
 * process doesn't listen for SIGTSTP. Returns false if the system doesn't tell.
 */
export function isForegroundWithoutShell(): boolean {
  try {
    const self = factsOf("self");
    if (self.foreground !== self.group) return false;
    let process = self;
    while (process.parent !== 0 && process.group === self.group) process = factsOf(process.parent);
    return process.group === self.group || process.session !== self.session;
  } catch {
    return false;
  }
}

function factsOf(process: number | "self"): ProcessFacts {
  const stat = readFileSync(`/proc/${process}/stat`, "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" "); // the name in parentheses can contain anything
  const [parent, group, session, _terminal, foreground] = fields.slice(1).map(Number);
  return { parent: parent!, group: group!, session: session!, foreground: foreground! };
}
