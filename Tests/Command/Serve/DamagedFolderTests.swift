import Foundation
import Testing

/// Damage of real folders, as processes: what `martlet check` and `martlet backup` find, and what a server that serves
/// such a folder reports to subscribers, to operators and in its log.
@Suite(.timeLimit(.minutes(3))) struct DamagedFolderTests {
  /// A folder `data` of a server that was killed: its changes have the offsets 3 to 32, most of them in the write-ahead
  /// log. `cursor` is the newest one.
  private static let words = #"""
    cat > plant.py <<'END'
    import os, shutil, sqlite3, sys
    name, what = sys.argv[1:]
    if not os.path.exists(name): shutil.copytree("data", name)
    log = name + "/store.sqlite-wal"
    size = os.path.getsize(log) if os.path.exists(log) else 0
    if what == "half the log": os.truncate(log, size // 2)
    elif what == "no log": os.remove(log)
    elif what == "a flipped log":
        with open(log, "r+b") as file:
            file.seek(size // 2); byte = file.read(1)[0]
            file.seek(size // 2); file.write(bytes([byte ^ 0x10]))
    else:
        c = sqlite3.connect(name + "/store.sqlite"); n = c.execute(what).rowcount; assert n > 0, n; c.commit(); c.close()
    END
    cat > resume.py <<'END'
    import json, socket, sys
    def resume(port, cursor):
        peer = socket.create_connection(("127.0.0.1", port), 30)
        peer.sendall(b"GET /graphql HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                     b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"
                     b"Sec-WebSocket-Protocol: graphql-transport-ws\r\n\r\n")
        stream = peer.makefile("rb")
        while stream.readline().strip(): pass
        def send(message):
            text = json.dumps(message).encode()
            head = bytes([0x81, 0x80 | len(text)]) if len(text) < 126 else bytes([0x81, 0xFE]) + len(text).to_bytes(2, "big")
            peer.sendall(head + bytes(4) + text)
        def receive():
            size = stream.read(2)[1] & 127
            if size == 126: size = int.from_bytes(stream.read(2), "big")
            return json.loads(stream.read(size))
        send({"type": "connection_init", "payload": {"martlet": {"cursors": True}}})
        payload = {"query": "subscription { onCreateNote { id text } }"}
        if cursor: payload["extensions"] = {"martlet": {"resume": cursor}}
        send({"id": "1", "type": "subscribe", "payload": payload})
        seen, gap, wrong = 0, "no gap", 0
        while True:
            message = receive()
            if message["type"] == "next":
                note = message["payload"]["data"]["onCreateNote"]
                seen += 1; wrong += note["text"] != "the text number " + note["id"]
            if message["type"] == "gap": gap = message["reason"]
            if message["type"] == "ready": return seen, wrong, gap, message["cursor"]
    port, cursor = int(sys.argv[1]), sys.argv[2]
    seen, wrong, gap, ready = resume(port, cursor)
    print(ready if not cursor else "%d events, %d wrong, %s" % (seen, wrong, gap))
    END
    write() { ask "mutation { createNote(input: {id: \"$1\", text: \"the text number $1\"}) { id } }" \
      | grep -o '"createNote":{"id":"[^"]*"}\|DATA_UNAVAILABLE' | head -1; }
    ready() { curl -s -w ' %{http_code}\n' http://127.0.0.1:$port/readyz | tr -d '\n'; echo; }
    kill_server() { kill -9 $pid; wait $pid 2> /dev/null; }
    serve --data data --create --dev
    ask "mutation { $(for i in $(seq 30); do echo "n$i: createNote(input: {id: \"$i\", text: \"the text number $i\"}) { id }"; done) }" > /dev/null
    cursor=$(python3 resume.py $port '')
    kill_server
    """#

  @Test func `each kind of damage is found by check and backup, and is one gap for subscribers it concerns`()
    async throws
  {
    let run = try await ServedScript.run(
      Self.words + #"""

        look() {  # NAME WHAT
          python3 plant.py "$1" "$2" || return
          martlet check "$1" > checked 2>&1; status=$?
          martlet backup "$1" "$1.copy" > copied 2>&1; echo "$1: check $status, backup $?, $(ls -d $1.copy* 2> /dev/null | wc -l) left"
        }
        watch() {  # NAME
          serve --data "$1" --dev
          python3 resume.py $port ${cursor%-*}-5; python3 resume.py $port $cursor
          ready
          curl -s http://127.0.0.1:$port/metrics | grep '^martlet_log_damage_total'
          write after
          # The log is whole once the server has ended.
          stop
          grep -o '"message":"The change log cannot be read.".*' err | sed 's/.*"offset":"\([0-9]*\)".*/an error line about \1/' | sort -u
        }
        look sound "UPDATE martlet_horizon SET id = id"; watch sound
        look entry "UPDATE martlet_log SET entry = x'0200ff' WHERE offset = 12"; watch entry
        look flipped "UPDATE martlet_log SET entry = CAST(replace(CAST(entry AS TEXT), 'number', 'nUmber') AS BLOB) WHERE offset = 12"
        watch flipped
        look rows "DELETE FROM martlet_log WHERE offset BETWEEN 10 AND 14"; watch rows
        look front "DELETE FROM martlet_log WHERE offset < 10"; watch front
        look checksum "UPDATE martlet_log SET checksum = checksum + 1 WHERE offset = 32"
        look record "DELETE FROM record_Note WHERE id = '7'"
        look text "UPDATE record_Note SET text = 'changed' WHERE id = '20'"; grep -o 'Note 20 .*' checked
        # A log that ends early is what a power cut leaves, so it is sound; clients that have seen more get a gap.
        look cut "half the log"; watch cut | sed 's/^[0-9]* events/some events/'
        look changed "a flipped log"
        """#)
    #expect(run.status == 0, "\(run.status) \(run.errors) \(run.output)")
    let wanted = [
      "sound: check 0, backup 0, 1 left",
      "27 events, 0 wrong, no gap", "0 events, 0 wrong, no gap", "ready 200", "martlet_log_damage_total 0",
      #""createNote":{"id":"after"}"#,
      "entry: check 1, backup 74, 0 left",
      "6 events, 0 wrong, damage", "0 events, 0 wrong, no gap", "degraded: the change log is damaged at offset 12 200",
      "martlet_log_damage_total 1", #""createNote":{"id":"after"}"#, "an error line about 12",
      "flipped: check 1, backup 74, 0 left",
      "6 events, 0 wrong, damage", "0 events, 0 wrong, no gap", "degraded: the change log is damaged at offset 12 200",
      "martlet_log_damage_total 1", #""createNote":{"id":"after"}"#, "an error line about 12",
      "rows: check 1, backup 74, 0 left",
      "4 events, 0 wrong, damage", "0 events, 0 wrong, no gap", "degraded: the change log is damaged at offset 10 200",
      "martlet_log_damage_total 1", #""createNote":{"id":"after"}"#, "an error line about 10",
      "front: check 1, backup 74, 0 left",
      "0 events, 0 wrong, damage", "0 events, 0 wrong, no gap", "degraded: the change log is damaged at offset 6 200",
      "martlet_log_damage_total 2", #""createNote":{"id":"after"}"#, "an error line about 1", "an error line about 6",
      "checksum: check 1, backup 74, 0 left", "record: check 1, backup 74, 0 left", "text: check 1, backup 74, 0 left",
      "Note 20 is not what the log has at offset 22",
      "cut: check 0, backup 0, 1 left",
      "some events, 0 wrong, no gap", "some events, 0 wrong, lineage", "ready 200", "martlet_log_damage_total 0",
      #""createNote":{"id":"after"}"#,
      "changed: check 0, backup 0, 1 left",
    ]
    #expect(run.lines == wanted, "\(run.output)")
  }

  @Test func `a missing write-ahead log is noticed while serving and when a server starts`() async throws {
    let run = try await ServedScript.run(
      Self.words + #"""

        for name in none creating; do python3 plant.py $name "no log"; done
        timeout 60 martlet serve s.graphql --data none --dev --port 0 > out 2> err; echo "none $?"
        grep -o 'holds nothing: its write-ahead log' err; ls none
        martlet check none > /dev/null 2>&1; echo "check $?"
        : > out; serve --data creating --create --dev; write fresh; stop
        # A log that cannot be read from its first byte on is as good as none.
        cp -r data broken; printf 'x' | dd of=broken/store.sqlite-wal conv=notrunc 2> /dev/null
        timeout 60 martlet serve s.graphql --data broken --dev --port 0 > out 2> err; echo "broken $?"
        grep -o 'holds nothing: its write-ahead log' err
        # While serving: nothing is acknowledged that a restart would not find.
        serve --data data --dev; write before
        mv data/store.sqlite-wal taken; write during; ready
        mv taken data/store.sqlite-wal; write after; ready
        kill_server
        serve --data data --dev; ask '{ a: getNote(id: "before") { id } b: getNote(id: "during") { id } c: getNote(id: "after") { id } }'
        stop
        # Another program that has emptied the log leaves a whole database, and a warning.
        python3 -c 'import sqlite3; c = sqlite3.connect("data/store.sqlite"); c.execute("PRAGMA wal_checkpoint(TRUNCATE)"); c.close()'
        ls data | grep -c wal
        serve --data data --dev; write kept; stop; grep -c 'store.sqlite-wal is missing' err
        """#)
    #expect(run.status == 0, "\(run.status) \(run.errors) \(run.output)")
    let wanted = [
      "none 74", "holds nothing: its write-ahead log", "LOCK", "store.sqlite", "store.sqlite-shm", "check 74",
      #""createNote":{"id":"fresh"}"#,
      "broken 74", "holds nothing: its write-ahead log",
      #""createNote":{"id":"before"}"#, "DATA_UNAVAILABLE", "degraded: no writes: the data files are gone 503",
      #""createNote":{"id":"after"}"#, "ready 200",
      #"{"data":{"a":{"id":"before"},"b":null,"c":{"id":"after"}}}"#,
      "0", #""createNote":{"id":"kept"}"#, "1",
    ]
    #expect(run.lines == wanted, "\(run.output)")
  }

  @Test func `readiness has every reason at once, and each goes with its cause`() async throws {
    let run = try await ServedScript.run(
      Self.words + #"""

        python3 plant.py damaged "DELETE FROM martlet_log WHERE offset = 9"
        serve --data damaged --dev; ready
        python3 resume.py $port ${cursor%-*}-5; ready
        mv damaged gone; mkdir damaged; write refused; ready
        rmdir damaged; mv gone damaged; write accepted; ready
        stop
        """#)
    #expect(run.status == 0, "\(run.status) \(run.errors) \(run.output)")
    let wanted = [
      "ready 200", "3 events, 0 wrong, damage", "degraded: the change log is damaged at offset 9 200",
      "DATA_UNAVAILABLE",
      "degraded: no writes: the data files are gone; the change log is damaged at offset 9 503",
      #""createNote":{"id":"accepted"}"#, "degraded: the change log is damaged at offset 9 200",
    ]
    #expect(run.lines == wanted, "\(run.output)")
  }
}
