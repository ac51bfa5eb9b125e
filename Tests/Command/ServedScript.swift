import Foundation

/// Runs shell scripts that start servers, in a folder of their own that goes away.
///
/// A script has these words:
/// - `serve OPTIONS` serves `s.graphql` on a port of the system's choice and sets `port` and `pid`.
/// - `stop` ends that server and waits for it.
/// - `wait_for COMMAND` repeats a command until it succeeds, and gives up after a minute.
/// - `lines TEXT COUNT` is whether the server's log has so many lines that begin with the text.
/// - `ask DOCUMENT` prints the server's response without its own extensions.
enum ServedScript {
  private static let prelude = #"""
    wait_for() { for i in $(seq 600); do "$@" && return; sleep 0.1; done; echo "no $*"; cat err; exit 9; }
    lines() { test "$(grep -c "^$1" err)" -ge "$2"; }
    key() { martlet access key create "$1" --file access.json | grep -o 'martlet_[0-9a-f]*'; }
    status() { curl -s -o /dev/null -w '%{http_code}' "$@" -H 'Content-Type: application/json' -d '{"query":"{__typename}"}' \
      http://127.0.0.1:$port/graphql; }
    echo 'type Note @model { id: ID! text: String }' > s.graphql
    trap 'kill -9 $pid 2>/dev/null' EXIT
    serve() {
      # Not by the shell that starts it: the lines of an earlier server must be gone before the first look.
      : > out; : > err
      martlet serve s.graphql --port 0 "$@" > out 2> err & pid=$!
      wait_for grep -q '^Serving' out
      port=$(sed -n 's/^Serving.*:\([0-9]*\)\/graphql$/\1/p' out)
    }
    stop() { kill -TERM $pid; wait $pid; }
    post() { curl -s "$@" -H 'Content-Type: application/json' http://127.0.0.1:$port/graphql \
      | sed 's/,"extensions":{"martlet".*/}/'; echo; }
    ask() { python3 -c 'import json, sys; print(json.dumps({"query": sys.argv[1]}))' "$1" > body; post -d @body; }
    """#

  static func run(_ script: String) async throws -> ShellRun {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("served-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    return try await ShellRun.bash(prelude + "\n" + script, in: folder)
  }
}
