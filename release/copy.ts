import { cpSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { ROOT } from "./commands.ts";

/** Copies the repository, including local changes but not the files that Git ignores. */
export function copyRepository(folder: string): void {
  const root = fileURLToPath(ROOT);
  const isCopied = (path: string) =>
    !/(^|[\\/])(\.git|node_modules|deno\.examples|[^\\/]+\.tgz)$/.test(path.slice(root.length));
  cpSync(root, folder, { recursive: true, filter: isCopied });
}
