// The floor of a client's cache in a file: SQLite's C interface writing one row per record, one transaction per 1,000.
//
//   cacheloop DATABASE RECORDS
//
// The rows are as large as those of `martlet bench cache --file`, the pragmas are the same. It writes without reading, so
// it knows neither what changed nor what a record had before. Prints one line of JSON: processor time per record of the
// first writing and of writing the same again.
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static sqlite3 *database;

static void check(int result, int expected, const char *what) {
  if (result == expected) return;
  fprintf(stderr, "cacheloop: %s: %s\n", what, sqlite3_errmsg(database));
  exit(1);
}

static void execute(const char *sql) { check(sqlite3_exec(database, sql, 0, 0, 0), SQLITE_OK, sql); }

static double processor(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return t.tv_sec * 1e9 + t.tv_nsec;
}

static double write_all(sqlite3_stmt *insert, int records, const char *gate, sqlite3_int64 *used) {
  double start = processor();
  for (int page = 0; page < records / 1000; page++) {
    execute("BEGIN IMMEDIATE");
    for (int i = 0; i < 1000; i++) {
      int id = page * 1000 + i;
      char key[32], fields[200];
      int key_size = snprintf(key, sizeof key, "Flight:f%d", id);
      int size = snprintf(fields, sizeof fields,
        "{\"id\":\"f%d\",\"line\":\"OS %d to Vienna\",\"gate\":\"%s\",\"minutes\":%d,\"late\":%s,\"__typename\":\"Flight\"}",
        id, id % 997, gate, id % 60, id % 7 == 0 ? "true" : "false");
      sqlite3_bind_text(insert, 1, key, key_size, SQLITE_TRANSIENT);
      sqlite3_bind_blob(insert, 2, fields, size, SQLITE_TRANSIENT);
      sqlite3_bind_int64(insert, 3, 1000);
      sqlite3_bind_int64(insert, 4, ++*used);
      sqlite3_bind_int64(insert, 5, size);
      check(sqlite3_step(insert), SQLITE_DONE, "insert");
      sqlite3_reset(insert);
    }
    execute("COMMIT");
  }
  return (processor() - start) / records;
}

int main(int count, char **words) {
  if (count != 3) {
    fprintf(stderr, "usage: cacheloop DATABASE RECORDS\n");
    return 2;
  }
  int records = atoi(words[2]);
  sqlite3_stmt *insert;
  sqlite3_int64 used = 0;
  check(sqlite3_open(words[1], &database), SQLITE_OK, words[1]);
  execute("PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA cache_size=-8192;");
  execute("CREATE TABLE records (key TEXT PRIMARY KEY, fields BLOB NOT NULL, written INTEGER NOT NULL, "
          "used INTEGER NOT NULL, size INTEGER NOT NULL) WITHOUT ROWID;"
          "CREATE INDEX records_used ON records (used); CREATE INDEX records_written ON records (written);");
  check(sqlite3_prepare_v2(database,
    "INSERT INTO records (key, fields, written, used, size) VALUES (?1, ?2, ?3, ?4, ?5) "
    "ON CONFLICT (key) DO UPDATE SET fields = ?2, written = ?3, used = ?4, size = ?5", -1, &insert, 0), SQLITE_OK, "prepare");
  double fresh = write_all(insert, records, "A1", &used);
  double changed = write_all(insert, records, "B2", &used);
  printf("{\"new_ns\":%.1f,\"changed_ns\":%.1f}\n", fresh, changed);
  sqlite3_finalize(insert);
  sqlite3_close(database);
  return 0;
}
