// The storage of an imaginary disk: files, the recording of what happened to them, and faults.
#include "disk.h"
#include <stdlib.h>
#include <string.h>

martlet_files *martlet_files_create(const char *name) {
  martlet_files *files = calloc(1, sizeof *files);
  if (!files) return NULL;
  files->name = strdup(name);
  if (!files->name) {
    free(files);
    return NULL;
  }
  pthread_mutex_init(&files->lock, NULL);
  files->sync_failure = files->write_failure = files->capacity = -1;
  martlet_vfs_prepare(files);
  if (sqlite3_vfs_register(&files->vfs, 0) != SQLITE_OK) {
    martlet_files_destroy(files);
    return NULL;
  }
  return files;
}

static void free_node(martlet_node *node) {
  for (int i = 0; i < node->region_count; i++) free(node->regions[i]);
  free(node->bytes);
  free(node->path);
  free(node);
}

void martlet_files_destroy(martlet_files *files) {
  sqlite3_vfs_unregister(&files->vfs);
  while (files->first) {
    martlet_node *node = files->first;
    files->first = node->next;
    free_node(node);
  }
  martlet_files_forget_events(files);
  free(files->events);
  pthread_mutex_destroy(&files->lock);
  free(files->name);
  free(files);
}

static void record(martlet_files *files, int kind, martlet_node *node, int64_t offset, const void *bytes, size_t count) {
  if (!files->recording || !node->path) return;
  if (files->event_count == files->event_room) {
    size_t room = files->event_room ? files->event_room * 2 : 64;
    martlet_file_event *grown = realloc(files->events, room * sizeof *grown);
    if (!grown) abort(); // a test's recording with holes would prove nothing
    files->events = grown;
    files->event_room = room;
  }
  unsigned char *copy = NULL;
  if (count) {
    copy = malloc(count);
    if (!copy) abort();
    memcpy(copy, bytes, count);
  }
  char *path = strdup(node->path);
  if (!path) abort();
  files->events[files->event_count++] = (martlet_file_event){kind, path, offset, copy, count};
}

martlet_node *martlet_disk_find(martlet_files *files, const char *path) {
  for (martlet_node *node = files->first; node; node = node->next) {
    if (node->path && !node->unlinked && strcmp(node->path, path) == 0) return node;
  }
  return NULL;
}

martlet_node *martlet_disk_add(martlet_files *files, const char *path) {
  martlet_node *node = calloc(1, sizeof *node);
  if (!node) return NULL;
  if (path && !(node->path = strdup(path))) {
    free(node);
    return NULL;
  }
  martlet_node **end = &files->first;
  while (*end) end = &(*end)->next;
  *end = node;
  return node;
}

static void unlink_node(martlet_files *files, martlet_node *node) {
  for (martlet_node **link = &files->first; *link; link = &(*link)->next) {
    if (*link == node) {
      *link = node->next;
      break;
    }
  }
  files->total -= (int64_t)node->count;
  free_node(node);
}

void martlet_disk_remove(martlet_files *files, martlet_node *node) {
  record(files, MARTLET_FILE_DELETE, node, 0, NULL, 0);
  node->unlinked = 1;
  if (node->opened == 0) unlink_node(files, node);
}

void martlet_disk_release(martlet_files *files, martlet_node *node) {
  node->opened--;
  if (node->opened == 0 && (node->unlinked || !node->path)) unlink_node(files, node);
}

/// Makes room for so many bytes. What is beyond `count` is not touched: memory that no byte needs is not taken.
static int reserve(martlet_node *node, size_t size) {
  if (size <= node->room) return 1;
  size_t room = node->room ? node->room : 4096;
  while (room < size) room *= 2;
  unsigned char *grown = realloc(node->bytes, room);
  if (!grown) return 0;
  node->bytes = grown;
  node->room = room;
  return 1;
}

/// Whether a counted fault strikes now. It counts successes down and stays struck at zero.
static int strikes(int64_t *successes) {
  if (*successes < 0) return 0;
  if (*successes == 0) return 1;
  *successes -= 1;
  return 0;
}

int martlet_disk_write(martlet_files *files, martlet_node *node, const void *bytes, size_t count, int64_t offset) {
  if (strikes(&files->write_failure)) return SQLITE_IOERR_WRITE;
  size_t end = (size_t)offset + count;
  size_t growth = end > node->count ? end - node->count : 0;
  if (growth && files->capacity >= 0 && files->total + (int64_t)growth > files->capacity) return SQLITE_FULL;
  if (!reserve(node, end)) return SQLITE_IOERR_NOMEM;
  if ((size_t)offset > node->count) memset(node->bytes + node->count, 0, (size_t)offset - node->count);
  memcpy(node->bytes + offset, bytes, count);
  if (growth) {
    node->count = end;
    files->total += (int64_t)growth;
  }
  record(files, MARTLET_FILE_WRITE, node, offset, bytes, count);
  return SQLITE_OK;
}

int martlet_disk_truncate(martlet_files *files, martlet_node *node, int64_t size) {
  if ((size_t)size < node->count) {
    files->total -= (int64_t)node->count - size;
    node->count = (size_t)size;
  }
  record(files, MARTLET_FILE_TRUNCATE, node, size, NULL, 0);
  return SQLITE_OK;
}

int martlet_disk_sync(martlet_files *files, martlet_node *node) {
  files->syncs++;
  if (strikes(&files->sync_failure)) return SQLITE_IOERR_FSYNC;
  record(files, MARTLET_FILE_SYNC, node, 0, NULL, 0);
  return SQLITE_OK;
}

int martlet_files_put(martlet_files *files, const char *path, const void *bytes, size_t count) {
  pthread_mutex_lock(&files->lock);
  martlet_node *node = martlet_disk_find(files, path);
  if (!node) node = martlet_disk_add(files, path);
  int failed = !node || !reserve(node, count);
  if (!failed) {
    files->total += (int64_t)count - (int64_t)node->count;
    if (count) memcpy(node->bytes, bytes, count);
    node->count = count;
  }
  pthread_mutex_unlock(&files->lock);
  return failed;
}

size_t martlet_files_count(martlet_files *files) {
  size_t count = 0;
  pthread_mutex_lock(&files->lock);
  for (martlet_node *node = files->first; node; node = node->next) count += node->path && !node->unlinked;
  pthread_mutex_unlock(&files->lock);
  return count;
}

const char *martlet_files_path(martlet_files *files, size_t index) {
  const char *path = NULL;
  pthread_mutex_lock(&files->lock);
  for (martlet_node *node = files->first; node; node = node->next) {
    if (!node->path || node->unlinked) continue;
    if (index == 0) {
      path = node->path;
      break;
    }
    index--;
  }
  pthread_mutex_unlock(&files->lock);
  return path;
}

int64_t martlet_files_size(martlet_files *files, const char *path) {
  pthread_mutex_lock(&files->lock);
  martlet_node *node = martlet_disk_find(files, path);
  int64_t size = node ? (int64_t)node->count : -1;
  pthread_mutex_unlock(&files->lock);
  return size;
}

size_t martlet_files_copy(martlet_files *files, const char *path, void *bytes, size_t count) {
  pthread_mutex_lock(&files->lock);
  martlet_node *node = martlet_disk_find(files, path);
  size_t copied = node ? (node->count < count ? node->count : count) : 0;
  if (copied) memcpy(bytes, node->bytes, copied);
  pthread_mutex_unlock(&files->lock);
  return copied;
}

void martlet_files_record(martlet_files *files, int recording) {
  pthread_mutex_lock(&files->lock);
  files->recording = recording;
  pthread_mutex_unlock(&files->lock);
}

size_t martlet_files_event_count(martlet_files *files) {
  pthread_mutex_lock(&files->lock);
  size_t count = files->event_count;
  pthread_mutex_unlock(&files->lock);
  return count;
}

martlet_file_event martlet_files_event(martlet_files *files, size_t index) {
  pthread_mutex_lock(&files->lock);
  martlet_file_event event = files->events[index];
  pthread_mutex_unlock(&files->lock);
  return event;
}

void martlet_files_forget_events(martlet_files *files) {
  pthread_mutex_lock(&files->lock);
  for (size_t i = 0; i < files->event_count; i++) {
    free((void *)files->events[i].path);
    free((void *)files->events[i].bytes);
  }
  files->event_count = 0;
  pthread_mutex_unlock(&files->lock);
}

static void set(martlet_files *files, int64_t *field, int64_t value) {
  pthread_mutex_lock(&files->lock);
  *field = value;
  pthread_mutex_unlock(&files->lock);
}

void martlet_files_fail_sync(martlet_files *files, int64_t successes) { set(files, &files->sync_failure, successes); }
void martlet_files_fail_write(martlet_files *files, int64_t successes) { set(files, &files->write_failure, successes); }
void martlet_files_set_capacity(martlet_files *files, int64_t bytes) { set(files, &files->capacity, bytes); }

int64_t martlet_files_sync_count(martlet_files *files) {
  pthread_mutex_lock(&files->lock);
  int64_t count = files->syncs;
  pthread_mutex_unlock(&files->lock);
  return count;
}
