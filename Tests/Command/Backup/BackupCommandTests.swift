import Foundation
import MartletJSON
import Testing

/// `martlet backup` of a folder that a server with writers and a subscriber uses, as processes; then the copy is
/// served.
@Suite(.serialized, .timeLimit(.minutes(3))) struct BackupCommandTests {
  private static let script = #"""
    set -u
    echo 'type T @model { id: ID! n: Int }' > s.graphql
    martlet serve s.graphql --data data --dev --port $PORT > /dev/null 2> serve.log & pid=$!
    trap 'kill -9 $pid $writer $subscriber 2>/dev/null' EXIT
    writer= subscriber=
    martlet query 127.0.0.1:$PORT '{ listTS { items { id } } }' --compact --wait 30s > /dev/null || exit 3
    cat > write.py <<'END'
    import json, os, sys, threading, urllib.request
    port = sys.argv[1]
    lock, acknowledged = threading.Lock(), open("acknowledged", "w")
    def write(name):
        number = 0
        while not os.path.exists("stop"):
            number += 1
            id = "%s-%d" % (name, number)
            body = json.dumps({"query": "mutation($i: CreateTInput!) { createT(input: $i) { id } }",
                               "variables": {"i": {"id": id, "n": number}}}).encode()
            request = urllib.request.Request("http://127.0.0.1:%s/graphql" % port, body, {"Content-Type": "application/json"})
            answer = json.load(urllib.request.urlopen(request, timeout=20))
            if answer.get("errors"): sys.exit(str(answer))
            with lock:
                acknowledged.write(id + "\n"); acknowledged.flush()
    threads = [threading.Thread(target=write, args=(name,)) for name in "abcd"]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
    END
    martlet subscribe 127.0.0.1:$PORT 'subscription { onCreateT { id } }' > events.jsonl 2> subscribe.log & subscriber=$!
    python3 write.py $PORT & writer=$!
    for i in $(seq 300); do [ "$(wc -l < acknowledged 2>/dev/null || echo 0)" -ge 200 ] && break; sleep 0.1; done
    wc -l < acknowledged > before
    martlet backup data copy || exit 4
    wc -l < acknowledged > after
    martlet backup data copy 2> again && exit 5
    touch stop
    wait $writer || exit 6
    kill -TERM $pid; wait $pid
    martlet serve s.graphql --data copy --dev --port $PORT > /dev/null 2> copy.log & pid=$!
    martlet query 127.0.0.1:$PORT '{ listTS { items { id } } }' --compact --wait 30s > /dev/null || exit 7
    cat > check.py <<'END'
    import json, sys, urllib.request
    ids = open("acknowledged").read().split()[:int(open("before").read())]
    for start in range(0, len(ids), 50):
        query = "{" + " ".join('r%d: getT(id: "%s") { id }' % (i, id) for i, id in enumerate(ids[start:start + 50])) + "}"
        request = urllib.request.Request("http://127.0.0.1:%s/graphql" % sys.argv[1], json.dumps({"query": query}).encode(),
                                         {"Content-Type": "application/json"})
        data = json.load(urllib.request.urlopen(request, timeout=20))["data"]
        missing = [name for name in data if data[name] is None]
        if missing: sys.exit("missing in the copy: %s" % missing)
    END
    python3 check.py $PORT || exit 8
    # What is written before the subscriber is back lies in its gap.
    for i in $(seq 300); do grep -q '"gap"' events.jsonl && break; sleep 0.1; done
    martlet mutate 127.0.0.1:$PORT 'mutation { createT(input: { id: "last" }) { id } }' --compact > /dev/null || exit 9
    for i in $(seq 300); do grep -q '"last"' events.jsonl && break; sleep 0.1; done
    grep -q '"last"' events.jsonl || exit 10
    ls copy > files
    """#

  @Test func `a backup under live writers and a subscriber ends, and its copy is served`() async throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("backup-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let port = try await TutorialTests.freePort()
    let run = try await ShellRun.bash("PORT=\(port)\n" + Self.script, in: folder)
    func text(_ name: String) -> String {
      (try? String(contentsOf: folder.appendingPathComponent(name), encoding: .utf8)) ?? ""
    }
    #expect(run.status == 0, "\(run.status) \(run.errors.suffix(500)) \(text("serve.log").suffix(500))")
    #expect(run.output.contains("Copied data to copy."))
    #expect(!text("copy.log").contains("warning"), "\(text("copy.log"))")
    #expect(text("again").contains("there already"))
    let lines = try text("events.jsonl").split(separator: "\n").map { try JSONValue(parsing: String($0)) }
    let ids = lines.compactMap { $0["data"]?["onCreateT"]?["id"]?.string }
    // Writers continued during the backup; the subscriber has each event once, and one gap for what the copy lacks.
    #expect(Set(ids).count == ids.count)
    #expect(ids.count >= 200)
    #expect(lines.count { $0["gap"] != nil } == 1, "\(text("subscribe.log").suffix(500))")
  }
}
