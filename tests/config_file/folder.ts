/** Temporary folder in which a test writes files. */

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Temporary folder. Disposing it removes the folder. */
export class Folder implements Disposable {
  readonly path: string = mkdtempSync(join(tmpdir(), "workqueue_"));

  /** Returns the path of a file in the folder. */
  at(name: string): string {
    return join(this.path, name);
  }

  /** Writes a file and returns its path. */
  write(name: string, text: string | Uint8Array): string {
    writeFileSync(this.at(name), text);
    return this.at(name);
  }

  [Symbol.dispose](): void {
    rmSync(this.path, { recursive: true, force: true });
  }
}
