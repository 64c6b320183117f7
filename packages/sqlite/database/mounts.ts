import { readFileSync } from "node:fs";
import { dirname } from "node:path";

/**
 * Types of file systems that several machines can mount, as Linux names them: those of servers, those of clusters, and
 * those that a virtual machine shares with its host. On these, SQLite can't share memory between all processes, and
 * locks can fail: https://www.sqlite.org/wal.html#advantages
 */
const NETWORK: ReadonlySet<string> = new Set([
  ...["nfs", "nfs4", "cifs", "smb3", "smbfs", "afs", "coda"],
  ...["ceph", "glusterfs", "lustre", "gfs2", "ocfs2", "beegfs", "gpfs", "orangefs", "panfs", "wekafs"],
  ...["9p", "virtiofs", "vboxsf", "vmhgfs", "prl_fs", "fakeowner"], // the last one is that of Docker Desktop
]);

/**
 * File systems of programs. A program may serve several machines, as sshfs does, and few programs support locks and
 * shared memory. `fuse-overlayfs` is that of local containers, and `fuseblk` has a local disk.
 */
const OF_PROGRAM = /^fuse(\.(?!fuse-overlayfs$).+)?$/;

/** Types of file systems, by the paths at which they are mounted. */
export type Mounts = ReadonlyMap<string, string>;

/** Returns the file systems of this machine; empty if there is no list of them. */
export function readMounts(): Mounts {
  try {
    return mountsIn(readFileSync("/proc/self/mounts", "utf8"));
  } catch {
    return new Map();
  }
}

/** Returns the file systems in a list in the format of `/proc/mounts`. */
export function mountsIn(list: string): Mounts {
  return new Map(
    list.split("\n").map((line) => {
      const [, point = "", type = ""] = line.split(" ");
      return [point.replace(/\\([0-7]{3})/g, (_, code) => String.fromCharCode(parseInt(code, 8))), type];
    }),
  );
}

/**
 * Returns the type of the network file system on which a file is; `undefined` if there is none or it is not known.
 *
 * @param path The real path of the file.
 */
export function networkTypeOf(path: string, mounts: Mounts): string | undefined {
  for (let place = path;; place = dirname(place)) { // the file itself may be a mount point
    const type = mounts.get(place);
    if (type !== undefined) return NETWORK.has(type) || OF_PROGRAM.test(type) ? type : undefined;
    if (place === dirname(place)) return undefined;
  }
}
