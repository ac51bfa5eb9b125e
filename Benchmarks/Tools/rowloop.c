// The floor of the store's figures: a loop over SQLite's C interface that writes the rows the store writes.
//
//   rowloop TEMPLATE DATABASE GROUP WRITES
//
// TEMPLATE is a database that `martlet bench store` left behind. Its tables, indexes, pragmas, one record and the mean
// size of a log entry are taken over, so that both write the same rows with the same durability: one savepoint, one
// record and one log row per write, one durable transaction per GROUP writes, a passive checkpoint per 1,000 pages.
// Prints one line of JSON.
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

static double seconds(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return t.tv_sec + t.tv_nsec / 1e9;
}

static sqlite3 *database;

static void check(int result, int expected, const char *what) {
  if (result == expected) return;
  fprintf(stderr, "rowloop: %s: %s\n", what, sqlite3_errmsg(database));
  exit(1);
}

static void execute(const char *sql) { check(sqlite3_exec(database, sql, 0, 0, 0), SQLITE_OK, sql); }

static sqlite3_stmt *prepare(sqlite3 *on, const char *sql) {
  sqlite3_stmt *statement;
  if (sqlite3_prepare_v2(on, sql, -1, &statement, 0) != SQLITE_OK) {
    fprintf(stderr, "rowloop: %s: %s\n", sql, sqlite3_errmsg(on));
    exit(1);
  }
  return statement;
}

static void run(sqlite3_stmt *statement) {
  check(sqlite3_step(statement), SQLITE_DONE, "step");
  sqlite3_reset(statement);
}

static int wal_pages;
static int wal_grew(void *context, sqlite3 *on, const char *name, int pages) {
  (void)context, (void)on, (void)name;
  wal_pages = pages;
  return SQLITE_OK;
}

int main(int count, char **words) {
  if (count < 5) {
    fprintf(stderr, "usage: rowloop TEMPLATE DATABASE GROUP WRITES\n");
    return 64;
  }
  int group = atoi(words[3]);
  long writes = atol(words[4]);
  sqlite3 *template;
  if (sqlite3_open_v2(words[1], &template, SQLITE_OPEN_READWRITE, 0) != SQLITE_OK) return 1;
  if (sqlite3_open_v2(words[2], &database, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, 0)) return 1;
  execute("PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA wal_autocheckpoint=0; PRAGMA foreign_keys=ON;"
    "PRAGMA temp_store=MEMORY; PRAGMA cache_size=-16384; PRAGMA cell_size_check=ON;");
  sqlite3_wal_hook(database, wal_grew, 0);

  // The same tables and indexes.
  sqlite3_stmt *schema = prepare(template, "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL");
  while (sqlite3_step(schema) == SQLITE_ROW) execute((const char *)sqlite3_column_text(schema, 0));
  sqlite3_finalize(schema);
  char table[256] = "", sql[8192];
  sqlite3_stmt *tables = prepare(template, "SELECT name FROM sqlite_schema WHERE type='table' AND name LIKE 'record_%'");
  if (sqlite3_step(tables) == SQLITE_ROW) snprintf(table, sizeof table, "%s", sqlite3_column_text(tables, 0));
  sqlite3_finalize(tables);
  snprintf(sql, sizeof sql, "SELECT * FROM \"%s\" LIMIT 1", table);
  sqlite3_stmt *model = prepare(template, sql);
  if (sqlite3_step(model) != SQLITE_ROW) {
    fprintf(stderr, "rowloop: %s has no record\n", words[1]);
    return 65;
  }
  sqlite3_stmt *entries = prepare(template, "SELECT CAST(avg(length(entry)) AS INTEGER) FROM martlet_log");
  sqlite3_step(entries);
  int entry_bytes = sqlite3_column_int(entries, 0);
  sqlite3_finalize(entries);

  int columns = sqlite3_column_count(model), key = -1;
  char *at = sql + sprintf(sql, "INSERT INTO \"%s\" VALUES(?", table);
  for (int i = 1; i < columns; i++) at += sprintf(at, ", ?");
  sprintf(at, ")");
  for (int i = 0; i < columns; i++) {
    if (!strcmp(sqlite3_column_name(model, i), "id")) key = i;
  }
  sqlite3_stmt *insert = prepare(database, sql);
  sqlite3_stmt *append = prepare(database, "INSERT INTO martlet_log(offset, at, total, entry) VALUES(?, ?, ?, ?)");
  sqlite3_stmt *begin = prepare(database, "BEGIN IMMEDIATE"), *commit = prepare(database, "COMMIT");
  sqlite3_stmt *savepoint = prepare(database, "SAVEPOINT write"), *release = prepare(database, "RELEASE write");
  unsigned char *entry = calloc(1, entry_bytes + 1);
  unsigned long long random = 0x9E3779B97F4A7C15ull;
  long total = 0, done = 0, checkpointed = 0;
  char id[40];

  double wall = seconds(CLOCK_MONOTONIC), cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
  while (done < writes) {
    run(begin);
    for (int i = 0; i < group && done < writes; i++, done++) {
      run(savepoint);
      random ^= random << 13, random ^= random >> 7, random ^= random << 17;
      snprintf(id, sizeof id, "%016llx%016llx", random, random * 0x2545F4914F6CDD1Dull);
      for (int c = 0; c < columns; c++) {
        if (c == key) {
          sqlite3_bind_text(insert, c + 1, id, 32, SQLITE_STATIC);
        } else {
          sqlite3_bind_value(insert, c + 1, sqlite3_column_value(model, c));
        }
      }
      run(insert);
      total += entry_bytes;
      sqlite3_bind_int64(append, 1, done + 1);
      sqlite3_bind_int64(append, 2, 1700000000000 + done);
      sqlite3_bind_int64(append, 3, total);
      memcpy(entry, id, entry_bytes < 32 ? entry_bytes : 32);
      sqlite3_bind_blob(append, 4, entry, entry_bytes, SQLITE_STATIC);
      run(append);
      run(release);
    }
    run(commit);
    if (wal_pages < checkpointed) checkpointed = 0;
    if (wal_pages - checkpointed >= 1000) {
      int pages = 0, moved = 0;
      sqlite3_wal_checkpoint_v2(database, 0, SQLITE_CHECKPOINT_PASSIVE, &pages, &moved);
      checkpointed = pages;
    }
  }
  wall = seconds(CLOCK_MONOTONIC) - wall;
  cpu = seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu;
  printf("{\"group\":%d,\"writes\":%ld,\"entry_bytes\":%d,\"seconds\":%.3f,\"cpu_us\":%.2f,\"per_second\":%.0f}\n", group,
    done, entry_bytes, wall, cpu / done * 1e6, done / wall);
  return 0;
}
