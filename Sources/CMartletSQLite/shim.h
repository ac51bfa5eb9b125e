// What Swift cannot say about SQLite's C interface: variadic calls and the destructor constants.
#ifndef CMARTLET_SQLITE_SHIM_H
#define CMARTLET_SQLITE_SHIM_H

#include <errno.h>
#include <stdint.h>
#include <sqlite3.h>

/// Binds text that SQLite copies before the call returns.
static inline int martlet_sqlite_bind_text(sqlite3_stmt *statement, int index, const void *bytes, int count) {
  return sqlite3_bind_text(statement, index, count == 0 ? "" : (const char *)bytes, count, SQLITE_TRANSIENT);
}

/// Binds bytes that SQLite copies before the call returns. No bytes are an empty blob, not null.
static inline int martlet_sqlite_bind_blob(sqlite3_stmt *statement, int index, const void *bytes, int count) {
  if (count == 0) return sqlite3_bind_zeroblob(statement, index, 0);
  return sqlite3_bind_blob(statement, index, bytes, count, SQLITE_TRANSIENT);
}

/// Switches double-quoted string literals off, so that a misspelt column is an error and never a constant.
static inline int martlet_sqlite_harden(sqlite3 *database) {
  int result = sqlite3_db_config(database, SQLITE_DBCONFIG_DQS_DML, 0, (int *)0);
  if (result == SQLITE_OK) result = sqlite3_db_config(database, SQLITE_DBCONFIG_DQS_DDL, 0, (int *)0);
  if (result == SQLITE_OK) result = sqlite3_db_config(database, SQLITE_DBCONFIG_DEFENSIVE, 1, (int *)0);
  return result;
}

/// Keeps the write-ahead log file when the last connection closes, so that closing never waits for a checkpoint.
static inline int martlet_sqlite_keep_wal(sqlite3 *database) {
  return sqlite3_db_config(database, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, (int *)0);
}

// Switches off the count of allocated bytes. Fails once SQLite is in use, without harm.
static inline int martlet_sqlite_stop_counting(void) {
  return sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
}

// Why a file could not grow.
#define MARTLET_SQLITE_DISK_FULL 1
#define MARTLET_SQLITE_FILE_TOO_LARGE 2
#define MARTLET_SQLITE_OVER_QUOTA 3

// What an `errno` says about a file that could not grow; 0 when it says something else.
static inline int32_t martlet_sqlite_growth_failure(int32_t error) {
  if (error == ENOSPC) return MARTLET_SQLITE_DISK_FULL;
  if (error == EFBIG) return MARTLET_SQLITE_FILE_TOO_LARGE;
  if (error == EDQUOT) return MARTLET_SQLITE_OVER_QUOTA;
  return 0;
}

// `errno` of the last operation that failed on the write-ahead log, or on the database's own file when there was none;
// 0 when it is not known. `sqlite3_system_errno` does not have it for a commit.
static inline int martlet_sqlite_last_errno(sqlite3 *database) {
  static const int pointers[] = {SQLITE_FCNTL_JOURNAL_POINTER, SQLITE_FCNTL_FILE_POINTER};
  for (int index = 0; index < 2; index += 1) {
    sqlite3_file *file = 0;
    int found = 0;
    if (sqlite3_file_control(database, "main", pointers[index], &file) != SQLITE_OK) continue;
    if (file == 0 || file->pMethods == 0) continue;
    if (file->pMethods->xFileControl(file, SQLITE_FCNTL_LAST_ERRNO, &found) == SQLITE_OK && found != 0) return found;
  }
  return sqlite3_system_errno(database);
}

#endif
