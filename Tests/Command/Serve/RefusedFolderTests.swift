import Foundation
import Testing

/// What `martlet serve` does to folders, as processes: those it refuses, and those whose schema has changed.
@Suite(.timeLimit(.minutes(3))) struct RefusedFolderTests {
  /// Every file with its checksum and size. Of a copy at rest the name alone counts: opening it marks it as a database
  /// with a write-ahead log, in two bytes of its head.
  private static let snapshot = #"""
    seen() {
      test -d "$1" || { echo none; return; }
      if test "$1" = copy; then (cd copy && find . -type f | sort); else (cd "$1" && find . -type f | sort | xargs -r cksum); fi
    }
    """#

  @Test func `a folder that is refused is left as it was found`() async throws {
    let run = try await ServedScript.run(
      Self.snapshot + #"""

        refused() {  # NAME COMMAND...
          name=$1; shift
          seen $name > before
          "$@" > out 2> err; code=$?
          seen $name > after
          test $code != 0 || echo "$name was not refused: $*"
          diff before after > difference || { echo "$name differs after: $*"; cat difference err; }
        }
        serve --data whole --create --dev
        ask 'mutation { createNote(input: {id: "a"}) { id } }'
        stop
        # A copy at rest, without what SQLite and the lock leave behind.
        martlet backup whole copy > /dev/null
        mkdir letters; echo hello > letters/letter
        mkdir half; cp whole/store.sqlite-wal half/
        mkdir cut; head -c 5000 copy/store.sqlite > cut/store.sqlite
        mkdir text; (echo "no database, and longer than a header of one hundred bytes"; seq 60) > text/store.sqlite
        mkdir short; echo x > short/store.sqlite
        mkdir other newer
        python3 - <<'END'
        import shutil, sqlite3
        c = sqlite3.connect("other/store.sqlite"); c.execute("create table t(n)"); c.commit(); c.close()
        shutil.copy("copy/store.sqlite", "newer/store.sqlite")
        c = sqlite3.connect("newer/store.sqlite"); c.execute("pragma journal_mode=wal"); c.execute("pragma user_version=99"); c.close()
        END
        rm -f newer/store.sqlite-*
        for folder in letters half cut other text short newer; do
          refused $folder martlet serve s.graphql --data $folder --dev --port 0
        done
        for folder in other newer; do
          refused $folder martlet serve s.graphql --data $folder --create --dev --port 0
          refused $folder martlet check $folder
          refused $folder martlet backup $folder copy2
        done
        echo 'type Note @model { id: ID! text: Int }' > changed.graphql
        for folder in copy whole; do
          refused $folder martlet serve changed.graphql --data $folder --dev --port 0
        done
        refused /proc/nothing/here martlet serve s.graphql --data /proc/nothing/here --dev --port 0
        # Nothing is missing from those that are good.
        seen copy > before; martlet check copy > /dev/null; echo "check $?"; seen copy > after; cmp before after
        serve --data copy --dev
        ask '{ getNote(id: "a") { id } }'
        """#)
    #expect(run.status == 0, "\(run.status) \(run.errors) \(run.output)")
    #expect(
      run.lines == [
        #"{"data":{"createNote":{"id":"a"}}}"#, "check 0", #"{"data":{"getNote":{"id":"a"}}}"#,
      ], "\(run.output)")
  }

  @Test func `a name that changes in case only, and a field that becomes required, keep data and events`() async throws
  {
    let run = try await ServedScript.run(
      #"""
      echo 'type Todo @model { id: ID! title: String owner: String @index note: String }' > s.graphql
      serve --data data --create --dev
      ask 'mutation { createTodo(input: {id: "1", title: "a", owner: "o"}) { id } }'
      ask 'mutation { createTodo(input: {id: "2", owner: "o", note: "kept"}) { id } }'
      ask 'mutation { updateTodo(input: {id: "1", title: null}) { id } }'
      stop
      echo 'type TODO @model { id: ID! title: String Owner: String @index(queryField: "owned") NOTE: String }' > s.graphql
      serve --data data --dev
      ask '{ owned(Owner: "o") { items { id title Owner NOTE } } }'
      stop
      echo 'type ToDo @model { id: ID! Title: String! @default(value: "none") owner: String @index(queryField: "owned") note: String! @default(value: "n") }' > s.graphql
      serve --data data --dev
      ask '{ owned(owner: "o") { items { id Title owner note } } }'
      events() { timeout 60 martlet subscribe 127.0.0.1:$port "subscription { $1 { id Title owner note } }" --from oldest --limit $2 2> subscribed | sed 's/.*"data"/"data"/'; }
      events onCreateToDo 2
      events onUpdateToDo 1
      # Another default now leaves what was written under the earlier one as it is.
      stop
      sed -i 's/"none"/"other"/' s.graphql
      serve --data data --dev
      ask 'mutation { createToDo(input: {id: "3"}) { id Title } }'
      events onCreateToDo 3 | tail -2
      stop
      martlet check data > /dev/null; echo "check $?"
      """#)
    #expect(run.status == 0, "\(run.status) \(run.errors) \(run.output)")
    #expect(
      run.lines == [
        #"{"data":{"createTodo":{"id":"1"}}}"#, #"{"data":{"createTodo":{"id":"2"}}}"#,
        #"{"data":{"updateTodo":{"id":"1"}}}"#,
        #"{"data":{"owned":{"items":[{"id":"1","title":null,"Owner":"o","NOTE":null},"#
          + #"{"id":"2","title":null,"Owner":"o","NOTE":"kept"}]}}}"#,
        #"{"data":{"owned":{"items":[{"id":"1","Title":"none","owner":"o","note":"n"},"#
          + #"{"id":"2","Title":"none","owner":"o","note":"kept"}]}}}"#,
        #""data":{"onCreateToDo":{"id":"1","Title":"a","owner":"o","note":"n"}}}"#,
        #""data":{"onCreateToDo":{"id":"2","Title":"none","owner":"o","note":"kept"}}}"#,
        #""data":{"onUpdateToDo":{"id":"1","Title":"none","owner":"o","note":"n"}}}"#,
        #"{"data":{"createToDo":{"id":"3","Title":"other"}}}"#,
        #""data":{"onCreateToDo":{"id":"2","Title":"none","owner":"o","note":"kept"}}}"#,
        #""data":{"onCreateToDo":{"id":"3","Title":"other","owner":null,"note":"n"}}}"#, "check 0",
      ], "\(run.output)")
  }
}
