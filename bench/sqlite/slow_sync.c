/* Delays each sync by DELAY nanoseconds, like a slow disk. Loaded with LD_PRELOAD. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <time.h>

static int slow_sync(const char *name, int file) {
  const struct timespec delay = {0, DELAY};
  nanosleep(&delay, 0);
  return ((int (*)(int))dlsym(RTLD_NEXT, name))(file);
}

int fsync(int file) { return slow_sync("fsync", file); }

int fdatasync(int file) { return slow_sync("fdatasync", file); }
