import Foundation
import Testing

/// SIGHUP to `martlet serve`, as a process of its own.
@Suite(.timeLimit(.minutes(3))) struct ReloadSignalTests {
  /// `reload WORD` sends the signal and waits for a line of standard error that begins with the word, after those
  /// before.
  private static let script = #"""
    key() { martlet access key create "$1" --file access.json | grep -o 'martlet_[0-9a-f]*'; }
    ask() { martlet query 127.0.0.1:$port "$2" --compact --header "x-api-key: $1" 2>&1; }
    wait_for() { for i in $(seq 600); do "$@" && return; sleep 0.1; done; echo "no $*"; cat err; exit 9; }
    lines() { test "$(grep -c "^$1" err)" -ge "$2"; }
    echo 'type Note @model { id: ID! text: String }' > s.graphql
    first=$(key first)
    martlet serve s.graphql --memory --access access.json --port 0 > out 2> err &
    pid=$!
    trap 'kill -9 $pid 2>/dev/null' EXIT
    wait_for grep -q '^Serving' out
    port=$(sed -n 's/^Serving.*:\([0-9]*\)\/graphql$/\1/p' out)
    martlet mutate 127.0.0.1:$port 'mutation { createNote(input: {id: "1", text: "kept"}) { text } }' --compact \
      --header "x-api-key: $first"

    echo 'type Note @model { id: ID! stars: Int text: String }' > s.graphql
    second=$(key second)
    kill -HUP $pid
    wait_for lines Reloaded 1
    echo "second: $(ask $second '{ getNote(id: "1") { text stars } }')"

    echo 'type Note @model { id: ID! stars: Int text: ' > s.graphql
    third=$(key third)
    martlet access key revoke first --file access.json > /dev/null
    kill -HUP $pid
    wait_for lines 'Not reloaded' 1
    ask $third '{ listNotes { items { id } } }' > /dev/null && echo "the third key was accepted"
    echo "first: $(ask $first '{ getNote(id: "1") { stars } }')"

    echo 'type Note @model { id: ID! stars: Int }' > s.graphql
    kill -HUP $pid
    wait_for lines 'Not reloaded' 2
    echo "first: $(ask $first '{ getNote(id: "1") { text } }')"

    echo 'type Note @model { id: ID! stars: Int text: String more: String }' > s.graphql
    echo '{' > access.json
    kill -HUP $pid
    wait_for lines 'Not reloaded' 3
    ask $first '{ getNote(id: "1") { more } }' > /dev/null && echo "the schema was taken without the keys"

    grep '^Not reloaded' err
    kill -TERM $pid
    wait $pid
    echo "ended with $?"
    """#

  @Test func `SIGHUP takes schema and keys together, or neither`() async throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("reload-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let run = try await ShellRun.bash(Self.script, in: folder)
    let lines = run.lines
    #expect(run.status == 0, "\(run.errors) \(run.output)")
    try #require(lines.count == 8, "\(run.output)")
    #expect(lines[0].contains("kept"))
    #expect(
      lines[1].hasPrefix("second: ") && lines[1].contains("\"text\":\"kept\"") && lines[1].contains("\"stars\":null"))
    // The old keys and the old schema are in force after a refusal.
    #expect(lines[2].hasPrefix("first: ") && lines[2].contains("\"stars\":null"))
    #expect(lines[3].hasPrefix("first: ") && lines[3].contains("kept"))
    #expect(lines[4].contains("s.graphql"))
    #expect(lines[5].contains("text"))
    #expect(lines[6].contains("access.json"))
    #expect(lines[7] == "ended with 0")
  }
}
