// Files in memory under SQLite: for stores without a disk, for simulations and for imagined power cuts.
//
// One `martlet_files` is one imaginary disk. It is registered as a SQLite file system under its own name. Every call is
// safe from any thread. It can record what SQLite writes and syncs, and it can fail as disks fail.
#ifndef CMARTLET_VFS_H
#define CMARTLET_VFS_H

#include <stddef.h>
#include <stdint.h>

typedef struct martlet_files martlet_files;

/// What happened to a file.
enum martlet_file_event_kind {
  MARTLET_FILE_WRITE = 0,
  MARTLET_FILE_TRUNCATE = 1,
  MARTLET_FILE_SYNC = 2,
  MARTLET_FILE_DELETE = 3,
};

/// One recorded event. `bytes` is valid until the recording is cleared or the disk is destroyed.
typedef struct martlet_file_event {
  int kind;
  const char *path;
  int64_t offset; // of a write; the new size of a truncation
  const unsigned char *bytes;
  size_t count;
} martlet_file_event;

/// Makes an empty disk and registers it with SQLite as `name`. Null when memory is short.
martlet_files *martlet_files_create(const char *name);
/// Unregisters and frees. Every database on the disk must be closed.
void martlet_files_destroy(martlet_files *files);

/// Creates or replaces a file. Answers 0, or 1 when memory is short.
int martlet_files_put(martlet_files *files, const char *path, const void *bytes, size_t count);
/// How many files there are.
size_t martlet_files_count(martlet_files *files);
/// The path of the file at `index` in order of creation; null when there is none. Valid while the file exists.
const char *martlet_files_path(martlet_files *files, size_t index);
/// The size of a file, or -1.
int64_t martlet_files_size(martlet_files *files, const char *path);
/// Copies at most `count` bytes of a file from its start; answers how many.
size_t martlet_files_copy(martlet_files *files, const char *path, void *bytes, size_t count);

/// Starts (1) or stops (0) recording.
void martlet_files_record(martlet_files *files, int recording);
/// How many events are recorded.
size_t martlet_files_event_count(martlet_files *files);
/// The event at `index`, which must be below the count.
martlet_file_event martlet_files_event(martlet_files *files, size_t index);
/// Forgets the recorded events.
void martlet_files_forget_events(martlet_files *files);

/// The sync after `successes` more successful ones fails, and each later one too. Negative: none fails.
void martlet_files_fail_sync(martlet_files *files, int64_t successes);
/// The write after `successes` more successful ones fails, and each later one too. Negative: none fails.
void martlet_files_fail_write(martlet_files *files, int64_t successes);
/// Writes that would make all files together larger than `bytes` fail as on a full disk. Negative: no limit.
void martlet_files_set_capacity(martlet_files *files, int64_t bytes);
/// How many syncs were asked for so far.
int64_t martlet_files_sync_count(martlet_files *files);

/// Which file of the real disk `path` names: its device and its number there. Answers 1, or 0 when there is none.
int martlet_file_identity(const char *path, uint64_t *device, uint64_t *file);

#endif
