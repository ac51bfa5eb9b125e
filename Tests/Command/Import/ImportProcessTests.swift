import Foundation
import Testing

/// `martlet import` against a server, as processes.
@Suite(.timeLimit(.minutes(3))) struct ImportProcessTests {
  /// Every kind of value, objects within objects and lists of them included.
  @Test func `an import that is run again changes nothing and publishes nothing`() async throws {
    let run = try await ServedScript.run(
      #"""
      cat > s.graphql <<'END'
      enum Color { RED GREEN }
      type Place { latitude: Float! longitude: Float! names: [String] within: Area }
      type Area { code: Int name: String }
      type Thing @model {
        id: ID! text: String count: Int ratio: Float open: Boolean day: AWSDate time: AWSTime moment: AWSDateTime
        stamp: AWSTimestamp mail: AWSEmail link: AWSURL phone: AWSPhone address: AWSIPAddress json: AWSJSON color: Color
        texts: [String] counts: [Int] place: Place places: [Place]
      }
      END
      cat > rows.jsonl <<'END'
      {"id":"1","text":"x \u00e9","count":1,"ratio":1,"open":true,"day":"2024-01-02","time":"10:11:12","moment":"2024-01-02T03:04:05Z","stamp":12345,"mail":"a@b.example","link":"http://a.example/x","phone":"+491234567","address":"1.2.3.4","json":"{\"a\": 1}","color":"RED","texts":["a",null],"counts":[1,2],"place":{"latitude":1,"longitude":2.5},"places":[{"latitude":1,"longitude":2.5,"names":["x"],"within":{"code":1}}]}
      {"id":2,"text":null,"ratio":1.5,"place":null,"places":[]}
      {"id":"3","place":{"latitude":0.1,"longitude":-0.0,"within":{"code":7,"name":"n"}}}
      END
      serve --memory --dev
      go() { martlet import 127.0.0.1:$port Thing rows.jsonl "$@" 2>&1; }
      seen() { ask '{ listThings { items { id updatedAt } } }'; }
      go; seen > before
      # What is published has a cursor after this one.
      timeout 60 martlet subscribe 127.0.0.1:$port 'subscription { onUpdateThing { id } }' --limit 1 > events 2> subscribed & s=$!
      wait_for grep -q Subscribed subscribed
      go; go --batch 1; seen > after
      cmp before after && echo same
      sed -i 's/"code":7/"code":8/' rows.jsonl
      go; wait $s; cat events | sed 's/.*"data"/"data"/'
      """#)
    #expect(run.status == 0, "\(run.status) \(run.errors) \(run.output)")
    #expect(
      run.lines == [
        "Imported 3 rows into Thing: 3 new, 0 changed, 0 unchanged.",
        "Imported 3 rows into Thing: 0 new, 0 changed, 3 unchanged.",
        "Imported 3 rows into Thing: 0 new, 0 changed, 3 unchanged.", "same",
        "Imported 3 rows into Thing: 0 new, 1 changed, 2 unchanged.",
        #""data":{"onUpdateThing":{"id":"3"}}}"#,
      ], "\(run.output)")
  }

  @Test func `batches of any size go through a server that takes small requests; one row that does not is named`()
    async throws
  {
    let run = try await ServedScript.run(
      #"""
      serve --memory --dev --limit http.bodyBytes=20KiB
      rows() { python3 -c 'import sys; print("id,text"); [print("%s%d,%s" % (sys.argv[1], n, "x" * int(sys.argv[3]))) for n in range(int(sys.argv[2]))]' "$@"; }
      rows a 40 3000 > a.csv
      for batch in 39 1000000; do
        martlet import 127.0.0.1:$port Note a.csv --batch $batch 2>&1
      done
      # Half of them are there, and the questions for them are too large as well.
      rows k$(python3 -c 'print("0" * 150)') 200 1 > k.csv
      head -101 k.csv > half.csv
      martlet import 127.0.0.1:$port Note half.csv --batch 600 2>&1
      martlet import 127.0.0.1:$port Note k.csv --batch 600 2>&1
      (rows b 2 10; rows c 1 30000 | tail -1; rows d 1 10 | tail -1) > b.csv
      martlet import 127.0.0.1:$port Note b.csv --batch 1000 2>&1; echo "ended with $?"
      ask '{ getNote(id: "b1") { id } }'
      """#)
    #expect(run.status == 0, "\(run.status) \(run.errors) \(run.output)")
    #expect(
      run.lines == [
        "Imported 40 rows into Note: 40 new, 0 changed, 0 unchanged.",
        "Imported 40 rows into Note: 0 new, 0 changed, 40 unchanged.",
        "Imported 100 rows into Note: 100 new, 0 changed, 0 unchanged.",
        "Imported 200 rows into Note: 100 new, 0 changed, 100 unchanged.",
        #"A row of 30053 bytes is larger than a request that the server takes (id: "c0"). The server's limit is http.bodyBytes."#,
        "ended with 1", #"{"data":{"getNote":{"id":"b1"}}}"#,
      ], "\(run.output)")
  }

  @Test func `what is there twice is refused before anything is written`() async throws {
    let run = try await ServedScript.run(
      #"""
      serve --memory --dev
      printf 'id,text,id\n1,a,2\n' > a.csv
      printf 'id,text,Text\n1,a,b\n' > b.csv
      printf 'id,text,note\n1,a,b\n' > c.csv
      printf '{"id":"1","text":"a","text":"b"}\n' > d.jsonl
      printf '{"id":"1","text":"a","note":"b"}\n' > e.jsonl
      go() { martlet import 127.0.0.1:$port Note "$@" 2>&1 | head -1; }
      go a.csv; go b.csv; go c.csv --map note=text; go d.jsonl; go e.jsonl --map note=text
      ask '{ listNotes { items { id } } }'
      """#)
    #expect(run.status == 0, "\(run.status) \(run.errors) \(run.output)")
    #expect(
      run.lines == [
        "The column 'id' is there twice.",
        "Column 'Text' is not a field of Note. Did you mean --map Text=text? --ignore-unknown leaves such columns out.",
        "The columns 'text' and 'note' are both the field 'text'.",
        "Line 1: JSON, byte 22: this member occurs twice.",
        "Line 1: the field 'text' is there twice.", #"{"data":{"listNotes":{"items":[]}}}"#,
      ], "\(run.output)")
  }

  /// The horizon moves with the groups themselves, at least as fast as they are written: what is older than the
  /// retention is gone soon after the last of them.
  @Test func `retention keeps up with an import of large transactions`() async throws {
    let run = try await ServedScript.run(
      #"""
      serve --data data --create --dev --retention 1s
      python3 -c 'print("id,text"); [print("%d,a" % n) for n in range(2500)]' > a.csv
      martlet import 127.0.0.1:$port Note a.csv --batch 1000 2>&1
      kept() {
        curl -s http://127.0.0.1:$port/metrics \
          | awk '/^martlet_log_head_offset /{head = $2} /^martlet_log_first_offset /{first = $2} END {print head - first}'
      }
      few() { test "$(kept)" -lt 1000; }
      wait_for few
      ask '{ getNote(id: "2499") { id } }'
      stop
      martlet check data > /dev/null; echo "check $?"
      """#)
    #expect(run.status == 0, "\(run.status) \(run.errors) \(run.output)")
    #expect(
      run.lines == [
        "Imported 2500 rows into Note: 2500 new, 0 changed, 0 unchanged.", #"{"data":{"getNote":{"id":"2499"}}}"#,
        "check 0",
      ], "\(run.output)")
  }
}
