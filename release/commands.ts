/** Functions that run third-party programs to build and install the packages. */

/** Root folder of the repository. */
export const ROOT = new URL("..", import.meta.url);

/** Timeout for a process, in milliseconds. The dry run of a release takes minutes on a busy machine. */
const DEADLINE = 900_000;

/**
 * Name of the npm executable. On Windows, Rust finds a batch file only by its full name, and so does Deno, which is
 * written in Rust.
 */
export const NPM = Deno.build.os === "windows" ? "npm.cmd" : "npm";

/** Runs a command and returns its output. Throws an error with the output if the command fails. */
export async function run(command: string, args: string[], cwd: string | URL, env: Record<string, string> = {}) {
  const { success, ...output } = await new Deno.Command(command, {
    args,
    cwd,
    env: { NO_COLOR: "1", ...env },
    stdin: "null",
    signal: AbortSignal.timeout(DEADLINE),
  }).output();
  const [stdout, stderr] = [output.stdout, output.stderr].map((bytes) => new TextDecoder().decode(bytes));
  if (!success) throw new Error(`${command} ${args.join(" ")} failed\n${stdout}${stderr}`);
  return { stdout: stdout!, stderr: stderr! };
}
