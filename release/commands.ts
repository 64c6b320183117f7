/** The programs of others that make what is published, and install it. */

/** The repository. */
export const ROOT = new URL("..", import.meta.url);

/** Guards against a process that never ends, and nothing else. */
const DEADLINE = 300_000;

/** Rust, and so Deno, finds a batch file only by its whole name. */
export const NPM = Deno.build.os === "windows" ? "npm.cmd" : "npm";

/** What a command printed. Throws that if the command failed. */
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
