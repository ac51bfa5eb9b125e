import MartletJSON
import MartletTesting
import Testing

/// Steps as a behaviour suite of another offline store would write them.
@Suite struct StoreDriverTests {
  private static let schema = "type Note @model @versioned { id: ID! text: String rank: Int }"

  private static func note(_ id: String, _ text: String, _ rank: Int64? = nil) -> JSONValue {
    var note: JSONObject = ["id": .string(id), "text": .string(text)]
    if let rank { note["rank"] = .int(rank) }
    return .object(note)
  }

  private static func change(_ record: JSONValue, _ version: Int64, at position: Int64) -> JSONValue {
    ["record": record, "version": .int(version), "position": .int(position)]
  }

  /// A driver that is synced, and listens to all notes in the order of their texts.
  private func synced(_ changes: [JSONValue] = []) throws -> StoreDriver {
    var driver = try StoreDriver(schema: Self.schema)
    try driver.run(["type": "listen", "listener": "all", "sort": ["text"]])
    try driver.run(["type": "start"])
    try driver.run(["type": "subscribed", "cursor": "c1"])
    try driver.run(["type": "page", "changes": .array(changes), "position": 10, "startedAt": 1])
    return driver
  }

  private func texts(_ event: JSONValue?) -> [String] {
    (event?["items"]?.array ?? []).map { item in
      (item["record"]?["text"]?.string ?? "") + (item["isPending"] == true ? " …" : "")
    }
  }

  @Test func `a listener has what is on the device, marked as from the cache until the sync is done`() throws {
    var driver = try StoreDriver(schema: Self.schema)
    let first = try driver.run(["type": "listen", "listener": "all", "sort": ["text"]])
    #expect(first.map { $0["type"] } == ["snapshot"] && first[0]["isFromCache"] == true && texts(first[0]) == [])
    let written = try driver.run(["type": "save", "record": Self.note("b", "two")])
    #expect(texts(written.last) == ["two …"] && written.last?["inserted"] == [0])
    #expect(try driver.run(["type": "start"]).map { $0["type"] } == ["subscribe"])
    let query = try driver.run(["type": "subscribed", "cursor": "c1"])
    #expect(query == [["type": "query", "model": "Note", "since": .null, "token": .null]])
    let page = try driver.run([
      "type": "page", "changes": [Self.change(Self.note("a", "one"), 1, at: 4)], "position": 5, "startedAt": 1,
    ])
    #expect(page.first { $0["type"] == "upload" }?["verb"] == "create")
    #expect(texts(page.last) == ["one", "two …"] && page.last?["isFromCache"] == false)
    let ack = try driver.run([
      "type": "ack", "write": 1, "record": Self.note("b", "two"), "version": 1, "position": 6,
    ])
    #expect(ack.first == ["type": "write", "write": 1, "fate": "durable"])
    #expect(texts(ack.last) == ["one", "two"] && ack.last?["updated"] == [1])
    let seen = try driver.run([
      "type": "changes", "changes": [Self.change(Self.note("b", "two"), 1, at: 6)], "cursor": "c2",
    ])
    #expect(seen == [["type": "write", "write": 1, "fate": "seen"]])
  }

  @Test func `a limit is kept exact, and a refused write is rolled back`() throws {
    var driver = try synced((0..<5).map { Self.change(Self.note("n\($0)", "t\($0)", $0), 1, at: $0 + 1) })
    let listened = try driver.run([
      "type": "listen", "listener": "top", "where": ["rank": ["ge": 1]], "sort": ["-rank"], "limit": 2,
    ])
    #expect(texts(listened.last) == ["t4", "t3"])
    let deleted = try driver.run(["type": "delete", "key": "n4"])
    #expect(texts(deleted.last { $0["listener"] == "top" }) == ["t3", "t2"])
    let refused = try driver.run(["type": "refuse", "write": 1, "code": "FORBIDDEN", "message": "no"])
    #expect(refused.contains(["type": "write", "write": 1, "fate": "rejected"]))
    #expect(texts(refused.last { $0["listener"] == "top" }) == ["t4", "t3"])
  }

  @Test func `offline the list stays and is from the cache, time brings the next attempt, and a restart continues`()
    throws
  {
    var driver = try synced([Self.change(Self.note("a", "one"), 1, at: 1)])
    let lost = try driver.run(["type": "lost"])
    #expect(lost.last?["isFromCache"] == true && texts(lost.last) == ["one"])
    let wait = try #require(lost.first { $0["type"] == "wake" }?["seconds"]?.double)
    #expect(try driver.run(["type": "advance", "seconds": .double(wait / 2)]).isEmpty)
    let again = try driver.run(["type": "advance", "seconds": .double(wait)])
    #expect(again == [["type": "subscribe", "cursor": "c1"]])
    try driver.run(["type": "save", "record": Self.note("b", "two")])
    let restarted = try driver.run(["type": "restart"])
    #expect(restarted.first == ["type": "subscribe", "cursor": "c1"])
    let resumed = try driver.run(["type": "subscribed", "resumed": true])
    #expect(resumed.contains { $0["type"] == "upload" && $0["write"] == 1 })
    #expect(resumed.last?["isFromCache"] == false && texts(resumed.last) == ["one", "two …"])
  }

  @Test func `without positions the pages say what is left, and an answer may say nothing of the record`() throws {
    var driver = try StoreDriver(schema: Self.schema)
    func change(_ id: String, _ version: Int64) -> JSONValue {
      ["record": Self.note(id, id), "version": .int(version)]
    }
    try driver.run(["type": "listen", "listener": "all", "sort": ["text"]])
    try driver.run(["type": "start"])
    try driver.run(["type": "subscribed"])
    let first = try driver.run(["type": "page", "changes": [change("a", 1), change("b", 5)]])
    #expect(texts(first.last) == ["a", "b"])
    try driver.run(["type": "save", "record": Self.note("c", "c")])
    let taken = try driver.run(["type": "ack", "write": 1])
    #expect(texts(taken.last) == ["a", "b", "c"])
    try driver.run(["type": "save", "record": Self.note("c", "d")])
    let other = try driver.run(["type": "ack", "write": 2, "record": Self.note("c", "e"), "version": 2])
    #expect(texts(other.last) == ["a", "b", "e"])
    // What other clients have deleted meanwhile is gone, whatever its version was.
    try driver.run(["type": "reset"])
    try driver.run(["type": "subscribed"])
    let left = try driver.run(["type": "page", "changes": [change("a", 1)]])
    #expect(texts(left.last) == ["a"])
    // One that the server does not show is not shown.
    try driver.run(["type": "save", "record": Self.note("f", "f")])
    let hidden = try driver.run(["type": "ack", "write": 3, "record": .null])
    #expect(texts(hidden.last) == ["a"])
  }

  @Test func `a conflict waits for its answer`() throws {
    var driver = try synced([Self.change(Self.note("a", "one"), 1, at: 1)])
    try driver.run(["type": "save", "record": Self.note("a", "mine")])
    let theirs = Self.note("a", "theirs")
    let asked = try driver.run([
      "type": "conflict", "write": 1, "record": theirs, "version": 2, "position": 12,
    ])
    #expect(
      asked.contains(["type": "conflict", "write": 1, "local": Self.note("a", "mine"), "remote": theirs]))
    let retried = try driver.run(["type": "resolve", "write": 1, "with": "local"])
    let upload = try #require(retried.first { $0["type"] == "upload" })
    #expect(upload["write"]?.int ?? 0 > 1 && upload["fields"] == ["text": "mine"])
    #expect(throws: StoreDriverError.self) { try driver.run(["type": "resolve", "write": 1, "with": "local"]) }
    #expect(throws: StoreDriverError.self) { try driver.run(["type": "sing"]) }
    for member in ["limit", "offset"] {
      for value in [-1, "2", 1.5] as [JSONValue] {
        var step: JSONObject = ["type": "listen", "listener": "odd"]
        step[member] = value
        #expect(throws: StoreDriverError.self) { try driver.run(.object(step)) }
      }
    }
  }

  @Test func `an update changes the fields that it names, and a write whose condition does not hold is not made`()
    throws
  {
    var driver = try synced([Self.change(Self.note("a", "one", 1), 1, at: 1)])
    let updated = try driver.run(["type": "update", "key": "a", "fields": ["rank": 2]])
    #expect(updated.first?["fields"] == ["rank": 2] && updated.first?["isConditional"] == false)
    #expect(updated.last?["items"]?[0]?["record"] == Self.note("a", "one", 2))
    #expect(try driver.run(["type": "update", "key": "none", "fields": ["rank": 2]]).isEmpty)
    #expect(throws: StoreDriverError.self) { try driver.run(["type": "update", "key": "a", "fields": ["id": "b"]]) }
    #expect(throws: StoreDriverError.self) { try driver.run(["type": "update", "key": "a", "fields": ["no": 1]]) }
    for type in ["update", "delete", "save"] {
      let step: JSONValue = [
        "type": .string(type), "key": "a", "fields": ["rank": 3], "record": Self.note("a", "two"),
        "where": ["rank": ["eq": 1]],
      ]
      #expect(try driver.run(step).isEmpty, "\(type)")
    }
    try driver.run(["type": "ack", "write": 1])
    let deleted = try driver.run(["type": "delete", "key": "a", "where": ["rank": ["eq": 2]]])
    #expect(deleted.first?["verb"] == "delete" && deleted.first?["isConditional"] == true)
    let refused = try driver.run(["type": "fail", "write": 2, "reason": "condition"])
    #expect(refused.contains(["type": "write", "write": 2, "fate": "rejected"]) && texts(refused.last) == ["one"])
  }

  @Test func `writes that are refused with another one are rejected, not sent, and so are those of a deleted record`()
    throws
  {
    var driver = try synced([Self.change(Self.note("b", "two"), 1, at: 1)])
    try driver.run(["type": "save", "record": Self.note("a", "one")])
    try driver.run(["type": "update", "key": "a", "fields": ["rank": 2]])
    let refused = try driver.run(["type": "refuse", "write": 1, "code": "NO"])
    #expect(fates(refused) == ["1 rejected", "2 rejected"])
    try driver.run(["type": "update", "key": "b", "fields": ["rank": 2]])
    try driver.run(["type": "update", "key": "b", "fields": ["rank": 3]])
    let gone = try driver.run(["type": "conflict", "write": 3, "key": "b", "version": 2, "position": 20])
    #expect(fates(gone) == ["3 rejected", "4 rejected"])
    #expect(texts(gone.last).isEmpty)
    try driver.run(["type": "save", "record": Self.note("c", "three")])
    #expect(fates(try driver.run(["type": "ack", "write": 5])).first == "5 durable")
  }

  @Test func `a refused write is kept with its reason, over a restart, until it is made again or discarded`() throws {
    var driver = try synced([Self.change(Self.note("a", "one", 1), 1, at: 1)])
    try driver.run(["type": "update", "key": "a", "fields": ["rank": 2]])
    try driver.run(["type": "refuse", "write": 1, "code": "NO", "message": "not now"])
    try driver.run(["type": "save", "record": Self.note("b", "two")])
    try driver.run(["type": "update", "key": "b", "fields": ["rank": 5], "where": ["text": ["eq": "two"]]])
    try driver.run(["type": "refuse", "write": 2, "code": "FORBIDDEN"])
    try driver.run(["type": "restart"])
    let refused = try driver.run(["type": "rejected"])
    try #require(refused.map { $0["write"] } == [1, 2, 3] && refused.allSatisfy { $0["type"] == "refused" })
    #expect(refused[0]["fields"] == ["rank": 2] && refused[0]["code"] == "NO" && refused[0]["message"] == "not now")
    #expect(refused[1]["code"] == "FORBIDDEN" && refused[1]["verb"] == "create")
    #expect(refused[2]["reason"] == "dependsOn" && refused[2]["dependsOn"] == 2)
    // The update of a record that is not there cannot be made again.
    #expect(try driver.run(["type": "retry", "write": 3]).isEmpty)
    let again = try driver.run(["type": "retry", "write": 1])
    #expect(again.last?["items"]?[0]?["record"]?["rank"] == 2 && again.last?["items"]?[0]?["isPending"] == true)
    #expect(try driver.run(["type": "outbox"]).map { $0["write"] } == [4])
    #expect(texts(try driver.run(["type": "retry", "write": 2]).last) == ["one …", "two …"])
    try driver.run(["type": "discard", "write": 3])
    #expect(try driver.run(["type": "rejected"]).isEmpty)
    #expect(throws: StoreDriverError.self) { try driver.run(["type": "retry", "write": 3]) }
  }

  private func fates(_ events: [JSONValue]) -> [String] {
    events.filter { $0["type"] == "write" }.map { "\($0["write"]?.int ?? 0) \($0["fate"]?.string ?? "")" }
  }

  private func names(_ events: [JSONValue]) -> [String] { events.map { $0["type"]?.string ?? "" } }

  @Test func `the writes of a transaction are made together in one snapshot, or not at all`() throws {
    var driver = try synced([Self.change(Self.note("a", "one", 1), 1, at: 1)])
    let made = try driver.run([
      "type": "transaction",
      "writes": [
        ["type": "save", "record": Self.note("b", "two")], ["type": "update", "key": "b", "fields": ["rank": 7]],
        ["type": "save", "record": Self.note("c", "three")], ["type": "delete", "key": "c"],
        ["type": "delete", "key": "none"], ["type": "update", "key": "a", "fields": ["rank": 2]],
      ],
    ])
    #expect(names(made) == ["upload", "write", "snapshot"] && made[0]["fields"] == Self.note("b", "two", 7))
    #expect(texts(made.last) == ["one …", "two …"])
    let waiting = try driver.run(["type": "outbox"])
    #expect(names(waiting) == ["waiting", "waiting"] && waiting.map { $0["isSent"] } == [true, false])
    #expect(waiting.map { $0["key"] } == [["id": "b"], ["id": "a"]] && waiting[1]["fields"] == ["rank": 2])
    let missing: JSONValue = ["type": "update", "key": "none", "fields": ["rank": 1]]
    #expect(
      try driver.run(["type": "transaction", "writes": [["type": "delete", "key": "a"], missing]]).isEmpty)
    #expect(throws: StoreDriverError.self) {
      try driver.run(["type": "transaction", "writes": [["type": "delete", "key": "a"], ["type": "start"]]])
    }
    #expect(throws: StoreDriverError.self) {
      try driver.run(["type": "transaction", "writes": [["type": "delete", "key": "a"], ["type": "save"]]])
    }
    #expect(try driver.run(["type": "outbox"]) == waiting)
  }

  @Test func `a cleared store is empty and owed everything, and its writes have ended`() throws {
    var driver = try synced([Self.change(Self.note("a", "one"), 1, at: 1)])
    try driver.run(["type": "save", "record": Self.note("b", "two")])
    let cleared = try driver.run(["type": "clear"])
    #expect(fates(cleared) == ["1 cleared"] && texts(cleared.last).isEmpty && cleared.last?["isFromCache"] == true)
    #expect(try driver.run(["type": "outbox"]).isEmpty)
    #expect(try driver.run(["type": "start"]) == [["type": "subscribe", "cursor": .null]])
    let asked = try driver.run(["type": "subscribed", "cursor": "c2"])
    #expect(asked == [["type": "query", "model": "Note", "since": .null, "token": .null]])
  }

  @Test func `a caller who is refused with fresh credentials keeps its writes and no record of the server`() throws {
    var driver = try synced([Self.change(Self.note("a", "one"), 1, at: 1)])
    try driver.run(["type": "save", "record": Self.note("b", "two")])
    let first = try driver.run(["type": "lost", "reason": "credentials"])
    #expect(names(first) == ["subscribe", "snapshot"] && texts(first.last) == ["one", "two …"])
    let refused = try driver.run(["type": "withdrawn"])
    #expect(names(refused) == ["wake", "snapshot"] && texts(refused.last) == ["two …"])
    let again = try driver.run(["type": "advance", "seconds": refused[0]["seconds"] ?? .null])
    #expect(again == [["type": "subscribe", "cursor": .null]])
    try driver.run(["type": "subscribed", "cursor": "c2"])
    let page = try driver.run([
      "type": "page", "changes": [Self.change(Self.note("a", "one"), 1, at: 1)], "position": 10,
    ])
    #expect(names(page) == ["upload", "write", "snapshot"] && texts(page.last) == ["one", "two …"])
    #expect(names(try driver.run(["type": "lost", "reason": "refused"])) == ["terminated", "snapshot"])
  }

  @Test func `a page that fails is asked for again after a pause, and each model says when it was synced`() throws {
    var driver = try StoreDriver(schema: Self.schema + " type Tag @model @versioned { id: ID! }")
    for model in ["Note", "Tag"] {
      try driver.run(["type": "listen", "listener": .string(model), "model": .string(model)])
    }
    try driver.run(["type": "start"])
    try driver.run(["type": "subscribed"])
    let failed = try driver.run(["type": "failPage", "model": "Note", "reason": "overloaded", "retryAfter": 20])
    #expect(names(failed) == ["wake"] && failed[0]["seconds"]?.double ?? 0 >= 20)
    #expect(try driver.run(["type": "advance", "seconds": 19]).isEmpty)
    try driver.run(["type": "advance", "seconds": 30])
    try driver.run(["type": "subscribed"])
    let notes = try driver.run(["type": "page", "model": "Note", "changes": []])
    let shown = notes.filter { $0["type"] == "snapshot" }
    #expect(shown.map { $0["listener"] } == ["Note"])
    #expect(shown[0]["isSynced"] == true && shown[0]["isFromCache"] == true)
    let tags = try driver.run(["type": "page", "model": "Tag", "changes": []])
    #expect(tags.filter { $0["isSynced"] == true && $0["isFromCache"] == false }.count == 2)
  }

  @Test func `a killed store waits for no answer to a conflict, and one whose feed cannot continue for all pages`()
    throws
  {
    var driver = try synced([Self.change(Self.note("a", "one"), 1, at: 1)])
    try driver.run(["type": "save", "record": Self.note("a", "mine")])
    try driver.run(["type": "conflict", "write": 1, "record": Self.note("a", "theirs"), "version": 2])
    try driver.run(["type": "restart"])
    #expect(throws: StoreDriverError.self) { try driver.run(["type": "resolve", "write": 1, "with": "local"]) }
    try driver.run(["type": "subscribed", "resumed": true])
    #expect(try driver.run(["type": "reset"]).first == ["type": "subscribe", "cursor": .null])
    #expect(try driver.run(["type": "restart"]).first == ["type": "subscribe", "cursor": .null])
    #expect(try driver.run(["type": "subscribed", "cursor": "c3"]).first?["since"] == .null)
  }
}
