// What Swift cannot say about SQLite's C interface: variadic calls and the destructor constants.
#ifndef CMARTLET_SQLITE_SHIM_H
#define CMARTLET_SQLITE_SHIM_H

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

#endif
