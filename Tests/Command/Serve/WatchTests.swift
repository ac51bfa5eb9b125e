import Foundation
import MartletCommandLine
import Testing

@testable import MartletCommand

/// `martlet serve --watch`.
@Suite(.timeLimit(.minutes(3))) struct WatchTests {
  private func folder() throws -> URL {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("watch-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    return folder
  }

  @Test func `a change is reported once, when the file stays as it is, and so are a replacement and another link`()
    throws
  {
    let folder = try folder()
    defer { try? FileManager.default.removeItem(at: folder) }
    func write(_ text: String, _ name: String) throws {
      try Data(text.utf8).write(to: folder.appendingPathComponent(name))
    }
    let (first, second) = (folder.appendingPathComponent("a"), folder.appendingPathComponent("link"))
    try write("1", "a")
    try write("1", "b")
    try FileManager.default.createSymbolicLink(at: second, withDestinationURL: first)
    var watched = WatchedFiles([first.path, second.path])
    func look() -> Bool { watched.haveChanged() }
    #expect(!look() && !look())
    try write("12", "a")
    #expect(!look(), "it may still be being written")
    try write("123", "a")
    #expect(!look())
    #expect(look())
    #expect(!look())
    // A link to another file, as volumes of a cluster are changed.
    try FileManager.default.removeItem(at: second)
    try FileManager.default.createSymbolicLink(at: second, withDestinationURL: folder.appendingPathComponent("b"))
    #expect(!look())
    #expect(look())
    // A file that is gone, and back.
    try FileManager.default.removeItem(at: first)
    #expect(!look())
    #expect(look())
    try write("1", "a")
    #expect(!look())
    #expect(look())
  }

  private static let script = #"""
    key() { martlet access key create "$1" --file access.json | grep -o 'martlet_[0-9a-f]*'; }
    wait_for() { for i in $(seq 600); do "$@" && return; sleep 0.1; done; echo "no $*"; cat err; exit 9; }
    lines() { test "$(grep -c "^$1" err)" -ge "$2"; }
    four() { test "$(grep -c '"text"' $1.out)" -ge 4; }
    certificate() {
      openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=localhost \
        -addext subjectAltName=DNS:localhost -keyout $1.key -out $1.pem 2> /dev/null
    }
    write() {
      martlet mutate https://localhost:$port "mutation { createNote(input: {text: \"$1\"}) { text } }" --compact \
        --header "x-api-key: $2" --cacert $3.pem > /dev/null || { echo "not written: $1"; cat err; exit 8; }
    }
    echo 'type Note @model { id: ID! text: String }' > s.graphql
    certificate first
    cp first.key now.key; cp first.pem now.pem
    first=$(key first)
    martlet serve s.graphql --memory --access access.json --tls-certificate now.pem --tls-key now.key --watch \
      --audit audit.log --port 0 > out 2> err &
    pid=$!
    trap 'kill -9 $pid 2>/dev/null' EXIT
    wait_for grep -q '^Serving' out
    port=$(sed -n 's/^Serving.*:\([0-9]*\)\/graphql$/\1/p' out)
    for name in graphql-transport-ws graphql-ws appsync sse multipart; do
      martlet subscribe https://localhost:$port 'subscription { onCreateNote { text } }' --protocol $name \
        --cacert first.pem --header "x-api-key: $first" --limit 4 > $name.out 2> $name.err &
    done
    for name in graphql-transport-ws graphql-ws appsync sse multipart; do wait_for grep -qE "Subscribed|was sent" $name.err; done
    write 1 $first first

    certificate second
    cp second.key now.key; cp second.pem now.pem
    wait_for lines Reloaded 1
    write 2 $first second
    martlet query https://localhost:$port '{ __typename }' --header "x-api-key: $first" --cacert first.pem \
      > refused.out 2>&1 && echo "the old certificate is still served"
    grep -q -i certificate refused.out || cat refused.out

    second=$(key second)
    wait_for lines Reloaded 2
    write 3 $second second

    echo 'type Note @model { id: ID! stars: Int text: ' > s.graphql
    wait_for lines 'Not reloaded' 1
    echo 'type Note @model { id: ID! stars: Int text: String }' > s.graphql
    wait_for lines Reloaded 3
    write 4 $second second
    for name in graphql-transport-ws graphql-ws appsync sse multipart; do
      wait_for four $name
      echo "$name $(grep -o '"text":"[0-9]"' $name.out | tr -dc 0-9) $(grep -c lost $name.err) $(grep -c gap $name.out)"
    done
    kill -TERM $pid
    wait $pid
    echo "ended with $?"
    grep -c '"protocol"' audit.log > /dev/null && echo "admitted: $(grep -o '"subject":"[a-z]*"' audit.log | sort -u | tr '\n' ' ')"
    cat out err audit.log | grep -q -e "$first" -e "$second" && echo "a key was written"
    ls -l audit.log | cut -c 1-10
    """#

  @Test
  func `P8: certificate, keys and schema are read again when their files change, and no subscription is disturbed`()
    async throws
  {
    let folder = try folder()
    defer { try? FileManager.default.removeItem(at: folder) }
    let run = try await ShellRun.bash(Self.script, in: folder)
    #expect(run.status == 0, "\(run.errors) \(run.output)")
    let lines = run.lines
    let names = ["graphql-transport-ws", "graphql-ws", "appsync", "sse", "multipart"]
    try #require(lines.count == names.count + 3, "\(run.output)")
    for (line, name) in zip(lines, names) {
      #expect(line == "\(name) 1234 0 0")
    }
    #expect(lines[names.count] == "ended with 0")
    let admitted = lines[names.count + 1]
    #expect(admitted.hasPrefix("admitted: ") && admitted.contains("first") && admitted.contains("second"))
    #expect(lines[names.count + 2].hasPrefix("-rw-"))
  }

  private static let keySetScript = #"""
    wait_for() { for i in $(seq 600); do "$@" && return; sleep 0.1; done; echo "no $*"; cat err; exit 9; }
    lines() { test "$(grep -c "^$1" err)" -ge "$2"; }
    code() { base64 -w 0 | tr '+/' '-_' | tr -d '='; }
    set_of() { printf '{"keys":[{"kty":"oct","alg":"HS256","k":"%s"}]}' "$(printf %s "$1" | code)"; }
    token() {
      body="$(printf '{"alg":"HS256"}' | code).$(printf '{"iss":"i","sub":"ada","aud":"notes","exp":4102444800}' | code)"
      echo "$body.$(printf %s "$body" | openssl dgst -sha256 -hmac "$1" -binary | code)"
    }
    ask() {
      martlet query localhost:$port '{ __typename }' --header "authorization: Bearer $(token "$1")" \
        > /dev/null 2>&1 && echo "$2: accepted" || echo "$2: refused"
    }
    first=$(openssl rand -hex 32); second=$(openssl rand -hex 32)
    mkdir access; set_of "$first" > access/set.json
    echo 'type Note @model { id: ID! text: String }' > s.graphql
    echo '{"tokens":[{"issuer":"i","audience":"notes","keysFile":"set.json"}]}' > access/access.json
    martlet serve s.graphql --memory --access access/access.json --watch --port 0 > out 2> err &
    pid=$!
    trap 'kill -9 $pid 2>/dev/null' EXIT
    wait_for grep -q '^Serving' out
    port=$(sed -n 's/^Serving.*:\([0-9]*\)\/graphql$/\1/p' out)
    ask "$first" first; ask "$second" second
    set_of "$second" > access/set.json
    wait_for lines Reloaded 1
    ask "$first" first; ask "$second" second
    rm access/set.json
    wait_for lines 'Not reloaded' 1
    ask "$second" second
    kill -TERM $pid; wait $pid
    """#

  @Test func `a key set in a file beside the access file is read again when it changes`() async throws {
    let run = try await ShellRun.bash("cd \"$(mktemp -d)\"\n" + Self.keySetScript)
    #expect(
      run.output == "first: accepted\nsecond: refused\nfirst: refused\nsecond: accepted\nsecond: accepted\n",
      "\(run.output)\(run.errors)")
  }
}
