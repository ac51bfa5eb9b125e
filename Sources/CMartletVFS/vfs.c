// SQLite's calls on an imaginary disk, by the interface described in sqlite3.h (sqlite3_vfs, sqlite3_io_methods).
#include "disk.h"
#include <stdlib.h>
#include <string.h>

typedef struct handle {
  sqlite3_file base;
  martlet_files *files;
  martlet_node *node;
  int level;   // SQLITE_LOCK_*
  int has_shm; // takes part in the node's shared memory
  unsigned shm_shared, shm_exclusive; // bit per slot held
} handle;

#define LOCKED(h) pthread_mutex_lock(&(h)->files->lock)
#define UNLOCKED(h) pthread_mutex_unlock(&(h)->files->lock)

static int unlock_locked(handle *h, int level) {
  martlet_node *node = h->node;
  if (level >= h->level) return SQLITE_OK;
  if (node->exclusive == h) node->exclusive = NULL;
  if (node->pending == h) node->pending = NULL;
  if (level < SQLITE_LOCK_RESERVED && node->reserved == h) node->reserved = NULL;
  if (level == SQLITE_LOCK_NONE && h->level >= SQLITE_LOCK_SHARED) node->shared--;
  h->level = level;
  return SQLITE_OK;
}

static void leave_shm(handle *h, int delete) {
  if (!h->has_shm) return;
  martlet_node *node = h->node;
  for (int i = 0; i < MARTLET_SHM_LOCKS; i++) {
    if (h->shm_shared & (1u << i)) node->shm_shared[i]--;
    if (node->shm_exclusive[i] == h) node->shm_exclusive[i] = NULL;
  }
  h->shm_shared = h->shm_exclusive = 0;
  h->has_shm = 0;
  node->shm_users--;
  // With its last user the index goes: the next opening rebuilds it from the log, as after a restart.
  if (node->shm_users == 0) {
    for (int i = 0; i < node->region_count; i++) free(node->regions[i]);
    node->region_count = 0;
  }
  (void)delete;
}

static int x_close(sqlite3_file *file) {
  handle *h = (handle *)file;
  martlet_files *files = h->files;
  pthread_mutex_lock(&files->lock);
  unlock_locked(h, SQLITE_LOCK_NONE);
  leave_shm(h, 0);
  martlet_disk_release(files, h->node);
  pthread_mutex_unlock(&files->lock);
  return SQLITE_OK;
}

static int x_read(sqlite3_file *file, void *bytes, int count, sqlite3_int64 offset) {
  handle *h = (handle *)file;
  LOCKED(h);
  size_t size = h->node->count, available = 0;
  if ((size_t)offset < size) available = size - (size_t)offset;
  if (available > (size_t)count) available = (size_t)count;
  if (available) memcpy(bytes, h->node->bytes + offset, available);
  UNLOCKED(h);
  if (available == (size_t)count) return SQLITE_OK;
  memset((char *)bytes + available, 0, (size_t)count - available);
  return SQLITE_IOERR_SHORT_READ;
}

static int x_write(sqlite3_file *file, const void *bytes, int count, sqlite3_int64 offset) {
  handle *h = (handle *)file;
  LOCKED(h);
  int result = martlet_disk_write(h->files, h->node, bytes, (size_t)count, offset);
  UNLOCKED(h);
  return result;
}

static int x_truncate(sqlite3_file *file, sqlite3_int64 size) {
  handle *h = (handle *)file;
  LOCKED(h);
  int result = martlet_disk_truncate(h->files, h->node, size);
  UNLOCKED(h);
  return result;
}

static int x_sync(sqlite3_file *file, int flags) {
  (void)flags;
  handle *h = (handle *)file;
  LOCKED(h);
  int result = martlet_disk_sync(h->files, h->node);
  UNLOCKED(h);
  return result;
}

static int x_file_size(sqlite3_file *file, sqlite3_int64 *size) {
  handle *h = (handle *)file;
  LOCKED(h);
  *size = (sqlite3_int64)h->node->count;
  UNLOCKED(h);
  return SQLITE_OK;
}

static int lock_locked(handle *h, int level) {
  martlet_node *node = h->node;
  if (level <= h->level) return SQLITE_OK;
  if (level == SQLITE_LOCK_SHARED) {
    if (node->exclusive || node->pending) return SQLITE_BUSY;
    node->shared++;
  } else if (level == SQLITE_LOCK_RESERVED) {
    if (node->reserved && node->reserved != h) return SQLITE_BUSY;
    node->reserved = h;
  } else {
    if (node->pending && node->pending != h) return SQLITE_BUSY;
    if (node->reserved && node->reserved != h) return SQLITE_BUSY;
    node->pending = h;
    h->level = SQLITE_LOCK_PENDING;
    if (level == SQLITE_LOCK_EXCLUSIVE) {
      if (node->shared > 1) return SQLITE_BUSY;
      node->exclusive = h;
    }
  }
  h->level = level;
  return SQLITE_OK;
}

static int x_lock(sqlite3_file *file, int level) {
  handle *h = (handle *)file;
  LOCKED(h);
  int result = lock_locked(h, level);
  UNLOCKED(h);
  return result;
}

static int x_unlock(sqlite3_file *file, int level) {
  handle *h = (handle *)file;
  LOCKED(h);
  int result = unlock_locked(h, level);
  UNLOCKED(h);
  return result;
}

static int x_check_reserved(sqlite3_file *file, int *reserved) {
  handle *h = (handle *)file;
  LOCKED(h);
  *reserved = h->node->reserved || h->node->pending || h->node->exclusive;
  UNLOCKED(h);
  return SQLITE_OK;
}

static int x_file_control(sqlite3_file *file, int operation, void *argument) {
  (void)file, (void)operation, (void)argument;
  return SQLITE_NOTFOUND;
}

static int x_sector_size(sqlite3_file *file) {
  (void)file;
  return 4096;
}

static int x_characteristics(sqlite3_file *file) {
  (void)file;
  return SQLITE_IOCAP_POWERSAFE_OVERWRITE; // what the unix file system reports
}

static int x_shm_map(sqlite3_file *file, int region, int size, int extend, void volatile **memory) {
  handle *h = (handle *)file;
  int result = SQLITE_OK;
  *memory = NULL;
  LOCKED(h);
  martlet_node *node = h->node;
  if (!h->has_shm) {
    h->has_shm = 1;
    node->shm_users++;
  }
  if (region >= MARTLET_MAX_REGIONS) result = SQLITE_NOMEM;
  while (result == SQLITE_OK && extend && node->region_count <= region) {
    unsigned char *fresh = calloc(1, (size_t)size);
    if (!fresh) {
      result = SQLITE_NOMEM;
    } else {
      node->regions[node->region_count++] = fresh;
    }
  }
  if (result == SQLITE_OK && region < node->region_count) *memory = node->regions[region];
  UNLOCKED(h);
  return result;
}

static int shm_lock_locked(handle *h, int first, int count, int flags) {
  martlet_node *node = h->node;
  for (int i = first; i < first + count; i++) {
    unsigned bit = 1u << i;
    if (flags & SQLITE_SHM_UNLOCK) {
      if (h->shm_shared & bit) {
        node->shm_shared[i]--;
        h->shm_shared &= ~bit;
      }
      if (node->shm_exclusive[i] == h) {
        node->shm_exclusive[i] = NULL;
        h->shm_exclusive &= ~bit;
      }
    } else if (node->shm_exclusive[i] && node->shm_exclusive[i] != h) {
      return SQLITE_BUSY;
    } else if (flags & SQLITE_SHM_EXCLUSIVE) {
      if (node->shm_shared[i] > ((h->shm_shared & bit) ? 1 : 0)) return SQLITE_BUSY;
    }
  }
  if (flags & SQLITE_SHM_UNLOCK) return SQLITE_OK;
  for (int i = first; i < first + count; i++) {
    unsigned bit = 1u << i;
    if (flags & SQLITE_SHM_EXCLUSIVE) {
      node->shm_exclusive[i] = h;
      h->shm_exclusive |= bit;
    } else if (!(h->shm_shared & bit)) {
      node->shm_shared[i]++;
      h->shm_shared |= bit;
    }
  }
  return SQLITE_OK;
}

static int x_shm_lock(sqlite3_file *file, int first, int count, int flags) {
  handle *h = (handle *)file;
  LOCKED(h);
  int result = shm_lock_locked(h, first, count, flags);
  UNLOCKED(h);
  return result;
}

static void x_shm_barrier(sqlite3_file *file) {
  handle *h = (handle *)file;
  LOCKED(h);
  UNLOCKED(h);
}

static int x_shm_unmap(sqlite3_file *file, int delete) {
  handle *h = (handle *)file;
  LOCKED(h);
  leave_shm(h, delete);
  UNLOCKED(h);
  return SQLITE_OK;
}

static const sqlite3_io_methods methods = {
    .iVersion = 2,
    .xClose = x_close,
    .xRead = x_read,
    .xWrite = x_write,
    .xTruncate = x_truncate,
    .xSync = x_sync,
    .xFileSize = x_file_size,
    .xLock = x_lock,
    .xUnlock = x_unlock,
    .xCheckReservedLock = x_check_reserved,
    .xFileControl = x_file_control,
    .xSectorSize = x_sector_size,
    .xDeviceCharacteristics = x_characteristics,
    .xShmMap = x_shm_map,
    .xShmLock = x_shm_lock,
    .xShmBarrier = x_shm_barrier,
    .xShmUnmap = x_shm_unmap,
};

static int x_open(sqlite3_vfs *vfs, const char *path, sqlite3_file *file, int flags, int *out_flags) {
  martlet_files *files = vfs->pAppData;
  handle *h = (handle *)file;
  memset(h, 0, sizeof *h);
  pthread_mutex_lock(&files->lock);
  martlet_node *node = path ? martlet_disk_find(files, path) : NULL;
  int result = SQLITE_OK;
  if (!node && path && !(flags & SQLITE_OPEN_CREATE)) {
    result = SQLITE_CANTOPEN;
  } else if (!node && !(node = martlet_disk_add(files, path))) {
    result = SQLITE_NOMEM;
  } else {
    h->base.pMethods = &methods;
    h->files = files;
    h->node = node;
    node->opened++;
    if (out_flags) *out_flags = flags;
  }
  pthread_mutex_unlock(&files->lock);
  return result;
}

static int x_delete(sqlite3_vfs *vfs, const char *path, int sync_folder) {
  (void)sync_folder;
  martlet_files *files = vfs->pAppData;
  pthread_mutex_lock(&files->lock);
  martlet_node *node = martlet_disk_find(files, path);
  if (node) martlet_disk_remove(files, node);
  pthread_mutex_unlock(&files->lock);
  return node ? SQLITE_OK : SQLITE_IOERR_DELETE_NOENT;
}

static int x_access(sqlite3_vfs *vfs, const char *path, int flags, int *answer) {
  (void)flags;
  *answer = martlet_files_size(vfs->pAppData, path) >= 0;
  return SQLITE_OK;
}

static int x_full_path(sqlite3_vfs *vfs, const char *path, int room, char *out) {
  (void)vfs;
  size_t count = strlen(path) + 1;
  if (count > (size_t)room) return SQLITE_CANTOPEN;
  memcpy(out, path, count);
  return SQLITE_OK;
}

// A fixed sequence: simulations on this disk may not depend on the machine's chance or clock.
static int x_randomness(sqlite3_vfs *vfs, int count, char *bytes) {
  (void)vfs;
  for (int i = 0; i < count; i++) bytes[i] = (char)(i * 151 + 7);
  return count;
}

static int x_sleep(sqlite3_vfs *vfs, int microseconds) {
  (void)vfs;
  return microseconds;
}

static int x_time(sqlite3_vfs *vfs, sqlite3_int64 *milliseconds) {
  (void)vfs;
  *milliseconds = (sqlite3_int64)24405875 * 8640000; // 1970-01-01 in Julian milliseconds
  return SQLITE_OK;
}

static int x_last_error(sqlite3_vfs *vfs, int room, char *text) {
  (void)vfs;
  if (room > 0) text[0] = 0;
  return 0;
}

void martlet_vfs_prepare(martlet_files *files) {
  files->vfs = (sqlite3_vfs){
      .iVersion = 2,
      .szOsFile = sizeof(handle),
      .mxPathname = 1024,
      .zName = files->name,
      .pAppData = files,
      .xOpen = x_open,
      .xDelete = x_delete,
      .xAccess = x_access,
      .xFullPathname = x_full_path,
      .xRandomness = x_randomness,
      .xSleep = x_sleep,
      .xGetLastError = x_last_error,
      .xCurrentTimeInt64 = x_time,
  };
}
