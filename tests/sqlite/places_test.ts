/** Tests of the places where a file may be. */

import { assertEquals } from "@std/assert";
import { networkTypeOf } from "../../packages/sqlite/database/mounts.ts";

Deno.test("SQLite: file systems that several machines can share are known, at the file itself too", () => {
  const refused =
    "nfs nfs4 cifs smb3 9p virtiofs vboxsf vmhgfs prl_fs fakeowner ceph glusterfs lustre afs gfs2 ocfs2 " +
    "beegfs gpfs fuse fuse.sshfs fuse.s3fs fuse.grpcfuse fuse.vmhgfs-fuse";
  const accepted = "ext4 xfs btrfs zfs tmpfs overlay fuse.fuse-overlayfs fuseblk f2fs bcachefs";
  const mountsOf = (type: string, point: string) => `/dev/vda / ext4 rw 0 0\nx ${point} ${type} rw 0 0\n`;
  for (const type of refused.split(" ")) {
    assertEquals(networkTypeOf("/data/queue.db", mountsOf(type, "/data")), type);
    assertEquals(networkTypeOf("/data/queue.db", mountsOf(type, "/data/queue.db")), type);
    assertEquals(networkTypeOf("/data/queue.db", mountsOf(type, "/data/other.db")), undefined);
  }
  for (const type of accepted.split(" ")) {
    assertEquals(networkTypeOf("/data/queue.db", mountsOf(type, "/data")), undefined);
  }
});
