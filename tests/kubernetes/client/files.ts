import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

/** Folder with files of a test, which is removed when it is disposed. */
export class Files implements Disposable {
  readonly folder: string = mkdtempSync(join(tmpdir(), "workqueue_kubernetes_"));

  /** Returns the path of a file. */
  path(name: string): string {
    return join(this.folder, name);
  }

  /** Writes a file, in the form of JSON unless it is text. Returns its path. */
  write(name: string, content: unknown): string {
    const path = this.path(name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, typeof content === "string" ? content : JSON.stringify(content));
    return path;
  }

  [Symbol.dispose](): void {
    rmSync(this.folder, { recursive: true });
  }
}
