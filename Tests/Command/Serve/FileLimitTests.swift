import Foundation
import Testing

/// `martlet serve` as a process whose files may not grow beyond a limit: `ulimit -f`, a quota, a file system's bound.
@Suite(.timeLimit(.minutes(3))) struct FileLimitTests {
  /// The limit is lifted by `prlimit`, without the server's doing.
  private static let script = #"""
    wait_for() { for i in $(seq 600); do "$@" && return; sleep 0.1; done; echo "no $*"; cat err; exit 9; }
    echo 'type Note @model { id: ID! text: String }' > s.graphql
    (ulimit -S -f KIBIBYTES; exec martlet serve s.graphql --data data --create --dev --retention 4s --port 0 > out 2> err) &
    pid=$!
    trap 'kill -9 $pid 2>/dev/null' EXIT
    wait_for grep -q '^Serving' out
    port=$(sed -n 's/^Serving.*:\([0-9]*\)\/graphql$/\1/p' out)
    python3 - $port $pid <<'END' || { cat err; exit 4; }
    import http.client, json, resource, sys, time
    port, pid = int(sys.argv[1]), int(sys.argv[2])
    server = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    def ask(query):
        server.request("POST", "/graphql", json.dumps({"query": query}), {"Content-Type": "application/json"})
        return json.load(server.getresponse())
    def get(path):
        server.request("GET", path)
        answer = server.getresponse()
        return answer.status, answer.read().decode()
    def create(number):
        return ask('mutation { createNote(input: {id: "%d", text: "%s"}) { id } }' % (number, "x" * 100000))
    written, refusal = 0, None
    while refusal is None and written < 500:
        answer = create(written)
        refusal = answer.get("errors")
        if refusal is None: written += 1
    print("code", refusal[0]["extensions"]["code"], refusal[0]["message"])
    print("written", written > 0)
    print("ready", *get("/readyz"))
    kept = [ask('{ getNote(id: "%d") { id } }' % n)["data"]["getNote"] for n in (0, written - 1, written)]
    print("reads", [note is not None for note in kept])
    print("counted", int(next(l for l in get("/metrics")[1].splitlines()
        if l.startswith("martlet_store_disk_full_total")).split()[-1]) > 0)
    unlimited = resource.prlimit(pid, resource.RLIMIT_FSIZE)[1]
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (unlimited, unlimited))
    for _ in range(600):
        if get("/readyz")[0] == 200: break
        time.sleep(0.1)
    print("ready", *get("/readyz"))
    print("again", create(written)["data"]["createNote"]["id"] == str(written))
    END
    kill -TERM $pid
    wait $pid
    echo "ended with $?"
    grep -c 'Writes are refused' err
    grep -c 'Writes are accepted again' err
    """#

  /// The first file to meet the limit is the write-ahead log, or the database at a later checkpoint.
  @Test(arguments: [600, 6_000])
  func `data files that cannot grow are a full disk: writes are refused, reads continue, and it passes`(
    kib: Int
  ) async throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("limit-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let script = Self.script.replacingOccurrences(of: "KIBIBYTES", with: "\(kib)")
    let run = try await ShellRun.bash(script, in: folder)
    #expect(run.status == 0, "\(run.status) \(run.errors) \(run.output)")
    let lines = run.lines
    #expect(
      lines == [
        "code DISK_FULL A data file has reached the largest size that the process or the file system allows.",
        "written True", "ready 503 degraded: no writes: the disk is full", "reads [True, True, False]", "counted True",
        "ready 200 ready", "again True",
        "ended with 0", "1", "1",
      ], "\(run.output)")
  }
}
