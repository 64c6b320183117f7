/** A folder of files that a test writes, as people and programs do. */

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Disposing it removes it. */
export class Folder implements Disposable {
  readonly path: string = mkdtempSync(join(tmpdir(), "workqueue_"));

  /** The path of a file in here. */
  at(name: string): string {
    return join(this.path, name);
  }

  /** Writes a file; gives its path. */
  write(name: string, text: string | Uint8Array): string {
    writeFileSync(this.at(name), text);
    return this.at(name);
  }

  [Symbol.dispose](): void {
    rmSync(this.path, { recursive: true, force: true });
  }
}
