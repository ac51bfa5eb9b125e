import Foundation
import Testing

/// The tree as an operator keeps it: import from Firebase, namespaces with their rules, backup and check, as processes.
@Suite(.timeLimit(.minutes(3))) struct FirebaseImportTests {
  private static let script = #"""
    wait_for() { for i in $(seq 600); do "$@" && return; sleep 0.1; done; echo "no $*"; cat err; exit 9; }
    lines() { test "$(grep -c "^$1" err)" -ge "$2"; }
    serve() {
      martlet serve s.graphql --data "$1" --dev --port 0 --rules rules.json --namespace side=side.json \
        --tree-name main > out 2> err &
      pid=$!
      trap 'kill -9 $pid 2>/dev/null' EXIT
      wait_for grep -q '^Serving' out
      base=$(sed -n 's/^Serving.* on \(.*\)\/graphql$/\1/p' out)
    }
    stop() { kill -TERM $pid; wait $pid; }
    echo 'type Note @model { id: ID! }' > s.graphql
    echo '{"rules": {".read": true, ".write": true}}' > side.json
    cat > rules.json <<'END'
    {"rules": {"rooms": {".read": true, ".indexOn": "seats", "$room": {".write": "auth != null"}}}}
    END
    cat > export.json <<'END'
    {"rooms": {"kitchen": {"seats": 4, "title": "Kitchen"}, "hall": {"seats": 90}}}
    END
    import() { martlet import s.graphql export.json "$@" --from firebase --data data 2>&1; echo "= $?"; }
    cat > wrong.json <<'END'
    {"rules": {
      "a": {".validate": "newData.val().matches(/(a)\\1/)"},
      "b": {".read": "auth.token.firebase.identities.email.size() > 0"}
    }}
    END
    import wrong.json
    ls data 2>/dev/null && echo "something was made"
    import rules.json
    import rules.json
    import rules.json --restart
    import rules.json --at /models

    serve data
    curl -s "$base/rooms.json?orderBy=%22seats%22&limitToLast=1"; echo
    curl -s -X PUT -d '{"x": 1}' "$base/kept.json?ns=side"; echo
    curl -s "$base/rooms/hall/seats.json?ns=main"; echo
    curl -s -o /dev/null -w '%{http_code}\n' "$base/rooms.json?ns=other"
    echo '{"rules": {".read": true}}' > side.json
    kill -HUP $pid
    wait_for lines Reloaded 1
    curl -s -o refused -w '%{http_code}\n' -X PUT -d 2 "$base/kept.json?ns=side"
    echo '{"rules": {' > side.json
    kill -HUP $pid
    wait_for lines 'Not reloaded' 1
    grep -c '^Not reloaded.*"side"' err
    martlet backup data copy
    stop
    echo '{"rules": {".read": true}}' > side.json
    martlet check copy; echo "= $?"
    ls -d copy/namespace-side copy/store.sqlite
    serve copy
    curl -s "$base/kept.json?ns=side"; echo
    curl -s "$base/rooms/hall.json"; echo
    stop
    python3 - <<'END'
    import sqlite3
    database = sqlite3.connect("copy/namespace-side/store.sqlite")
    database.execute("UPDATE martlet_tree SET value = x'02'")
    database.commit()
    database.close()
    END
    martlet check copy > found; echo "= $?"
    grep -c 'namespace-side is damaged' found
    """#

  @Test func `a database is imported, its namespaces reload, and are copied and checked with it`() async throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("firebase-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let run = try await ShellRun.bash(Self.script, in: folder)
    let lines = run.lines
    var rest = lines[...]
    func next(_ expected: String, _ place: SourceLocation = #_sourceLocation) {
      let line = rest.popFirst() ?? "nothing"
      #expect(line.contains(expected), "\(line)\n\(run.errors)\n\(run.output)", sourceLocation: place)
    }
    next("Nothing was imported: these rules cannot be expressed here.")
    next("wrong.json:2:")
    next("wrong.json:3:")
    next("= 65")
    next("Imported 3 leaves into / of data.")
    next("rules.json is good as it is: 2 rules.")
    next("= 0")
    next("there is a value at / already")
    next("= 74")
    next("Imported 3 leaves into / of data.")
    next("rules.json is good as it is")
    next("= 0")
    next("/models")
    next("= 65")
    next(#"{"hall":{"seats":90}}"#)
    next(#"{"x":1}"#)
    next("90")
    next("404")
    next("401")
    next("1")
    next("Copied data to copy.")
    next("copy is sound")
    next("copy/namespace-side is sound")
    next("= 0")
    next("namespace-side")
    next("store.sqlite")
    next(#"{"x":1}"#)
    next(#"{"seats":90}"#)
    next("= 1")
    next("1")
    #expect(rest.isEmpty)
  }
}
