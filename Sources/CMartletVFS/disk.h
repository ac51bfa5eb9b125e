// The imaginary disk's inside, shared by its two halves: storage (disk.c) and SQLite's calls (vfs.c).
#ifndef MARTLET_DISK_H
#define MARTLET_DISK_H

#include "CMartletVFS.h"
#include <pthread.h>
#include <sqlite3.h>

enum { MARTLET_SHM_LOCKS = 8, MARTLET_MAX_REGIONS = 1024 };

typedef struct martlet_node {
  struct martlet_node *next;
  char *path; // null for a nameless temporary file
  unsigned char *bytes;
  size_t count, room;
  int opened;   // open handles
  int unlinked; // deleted while open: freed with its last handle
  // SQLite's five-level lock: shared holders, and the one that holds more.
  int shared;
  void *reserved, *pending, *exclusive;
  // Shared memory of the write-ahead log's index.
  unsigned char *regions[MARTLET_MAX_REGIONS];
  int region_count, shm_users;
  int shm_shared[MARTLET_SHM_LOCKS];
  void *shm_exclusive[MARTLET_SHM_LOCKS];
} martlet_node;

struct martlet_files {
  sqlite3_vfs vfs;
  char *name;
  pthread_mutex_t lock;
  martlet_node *first;
  int recording;
  martlet_file_event *events;
  size_t event_count, event_room;
  int64_t sync_failure, write_failure, capacity, total, syncs;
};

// All of these are called with the disk's lock held.
martlet_node *martlet_disk_find(martlet_files *files, const char *path);
martlet_node *martlet_disk_add(martlet_files *files, const char *path);
void martlet_disk_remove(martlet_files *files, martlet_node *node);
void martlet_disk_release(martlet_files *files, martlet_node *node);
int martlet_disk_write(martlet_files *files, martlet_node *node, const void *bytes, size_t count, int64_t offset);
int martlet_disk_truncate(martlet_files *files, martlet_node *node, int64_t size);
int martlet_disk_sync(martlet_files *files, martlet_node *node);

// Fills in SQLite's table of calls (vfs.c).
void martlet_vfs_prepare(martlet_files *files);

#endif
