// Which file a path names.
//
// On Linux without its times: from kernel 6.13 on, a file whose times have been read gets an exact time with its next
// write, and `fdatasync` then writes its inode as well. A store that asked with `stat` for each group paid a quarter of
// the group's processor time for it.
#include "CMartletVFS.h"
#include <sys/stat.h>
#ifdef __linux__
  #include <errno.h>
  #include <fcntl.h>
  #include <linux/stat.h>
  #include <sys/syscall.h>
  #include <unistd.h>
#endif

int martlet_file_identity(const char *path, uint64_t *device, uint64_t *file) {
#ifdef __linux__
  // By its number: not every C library has the call.
  struct statx found;
  if (syscall(SYS_statx, AT_FDCWD, path, 0, STATX_INO, &found) == 0) {
    *device = (uint64_t)found.stx_dev_major << 32 | found.stx_dev_minor;
    *file = found.stx_ino;
    return 1;
  }
  // Older kernels, and sandboxes that do not know the call.
  if (errno != ENOSYS && errno != EPERM) return 0;
#endif
  struct stat status;
  if (stat(path, &status) != 0) return 0;
  // Signed numbers on some systems.
  *device = (uint64_t)status.st_dev;
  *file = (uint64_t)status.st_ino;
  return 1;
}
