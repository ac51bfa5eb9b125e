import MartletJSON
import MartletServer
import Testing

/// Writes that were made on an older version.
@Suite(.timeLimit(.minutes(1))) struct ConflictTests {
  private func code(_ answer: JSONValue) -> String? { answer["errors"]?[0]?["extensions"]?["code"]?.string }
  private func type(_ answer: JSONValue) -> String? { answer["errors"]?[0]?["extensions"]?["errorType"]?.string }

  @Test func `AUTOMERGE keeps stored scalars, takes what is null, and appends to lists`() async throws {
    try await SyncFixture.with { _, client in
      _ = try await client.done("create", ["id": "a", "title": "base", "tags": ["x"]])
      _ = try await client.done("update", ["id": "a", "title": "theirs", "_version": 1])
      let merged = try await client.done(
        "update", ["id": "a", "title": "mine", "rating": 3, "tags": ["x", "y"], "_version": 1])
      #expect(merged["title"] == "theirs")
      #expect(merged["rating"] == 3)
      #expect(merged["tags"] == ["x", "x", "y"])
      #expect(merged["_version"] == 3)
    }
  }

  @Test func `a field that holds what the client replaces is taken, and the strategy decides for the others`()
    async throws
  {
    try await SyncFixture.with { _, client in
      _ = try await client.done("create", ["id": "a", "title": "base", "rating": 1, "tags": ["x"]])
      _ = try await client.done("update", ["id": "a", "title": "theirs", "tags": ["x", "t"], "_version": 1])
      let merged = try await client.done(
        "update", ["id": "a", "title": "mine", "rating": 2, "tags": ["x", "m"], "_version": 1],
        replaced: ["title": "base", "rating": 1, "tags": ["x"]])
      #expect(merged["title"] == "theirs")
      #expect(merged["rating"] == 2)
      // Both sides added an element; what both had is there once.
      #expect(merged["tags"] == ["x", "t", "m"])
      _ = try await client.done("create", ["id": "s", "text": "base"], of: "Strict")
      _ = try await client.done("update", ["id": "s", "text": "base", "_version": 1], of: "Strict")
      let taken = try await client.done(
        "update", ["id": "s", "text": "mine", "_version": 1], of: "Strict", replaced: ["text": "base"], number: 2)
      #expect(taken["text"] == "mine")
    }
  }

  @Test func `OPTIMISTIC_CONCURRENCY refuses with the stored record, and so does any deletion`() async throws {
    try await SyncFixture.with { _, client in
      _ = try await client.done("create", ["id": "s", "text": "base"], of: "Strict")
      _ = try await client.done("update", ["id": "s", "text": "theirs", "_version": 1], of: "Strict")
      for answer in [
        try await client.mutate("update", ["id": "s", "text": "mine", "_version": 1], of: "Strict"),
        try await client.mutate("delete", ["id": "s", "_version": 1], of: "Strict"),
      ] {
        #expect(type(answer) == "ConflictUnhandled")
        let data = answer["errors"]?[0]?["extensions"]?["data"]
        #expect(data?["text"] == "theirs")
        #expect(data?["_version"] == 2)
        #expect(data?["__typename"] == "Strict")
      }
      _ = try await client.done("create", ["id": "p", "title": "t"])
      _ = try await client.done("update", ["id": "p", "title": "u"])
      #expect(type(try await client.mutate("delete", ["id": "p", "_version": 1])) == "ConflictUnhandled")
      #expect(try await client.done("delete", ["id": "p", "_version": 2])["_deleted"] == true)
    }
  }

  @Test func `a write to a deleted record is a conflict with its last image`() async throws {
    try await SyncFixture.with { _, client in
      _ = try await client.done("create", ["id": "a", "title": "t"])
      _ = try await client.done("delete", ["id": "a", "_version": 1])
      let answer = try await client.mutate("update", ["id": "a", "title": "u", "_version": 1])
      #expect(type(answer) == "ConflictUnhandled")
      let data = answer["errors"]?[0]?["extensions"]?["data"]
      #expect(data?["_deleted"] == true)
      #expect(data?["_version"] == 2)
      #expect(data?["title"] == "t")
      // A key that existed keeps counting.
      #expect(try await client.done("create", ["id": "a", "title": "again"])["_version"] == 3)
      #expect(code(try await client.mutate("update", ["id": "never", "title": "u", "_version": 1])) == "NOT_FOUND")
    }
  }

  @Test func `a handler of the program resolves, rejects or removes, and a model without one is refused at the start`()
    async throws
  {
    let schema = "type Note @model @versioned(conflicts: LAMBDA) { id: ID! text: String }"
    await #expect(throws: ServerError.self) { try await SyncFixture.with(schema) { _, _ in } }
    try await SyncFixture.with(
      schema,
      { configuration in
        configuration.conflictHandlers["Note"] = ConflictHandler { conflict in
          let stored = conflict.existingItem["text"]?.string ?? ""
          switch conflict.newItem?["text"] {
          case "reject"?: return .reject
          case "remove"?: return .remove
          case let text?: return .resolve(["text": .string("\(stored)+\(text.string ?? "")")])
          case nil: return .reject
          }
        }
      }
    ) { _, client in
      func update(_ text: String) async throws -> JSONValue {
        try await client.send(
          """
          mutation { updateNote(input: {id: "a", text: "\(text)", _version: 1}) { text _version } }
          """)
      }
      _ = try await client.send(#"mutation { createNote(input: {id: "a", text: "1"}) { id } }"#)
      _ = try await client.send(#"mutation { updateNote(input: {id: "a", text: "2"}) { id } }"#)
      #expect(try await update("3")["data"]?["updateNote"] == ["text": "2+3", "_version": 3])
      #expect(type(try await update("reject")) == "ConflictUnhandled")
      #expect(try await update("remove")["errors"] == nil)
      #expect(try await client.send(#"{ getNote(id: "a") { id } }"#)["data"]?["getNote"] == .null)
    }
  }

  @Test func `a handler's outcome is in the answer, also of a resend, and the write's condition holds for it`()
    async throws
  {
    let schema = "type Note @model @versioned(conflicts: LAMBDA) { id: ID! text: String n: Int }"
    try await SyncFixture.with(
      schema,
      { configuration in
        configuration.conflictHandlers["Note"] = ConflictHandler { conflict in
          guard let new = conflict.newItem else { return .resolve(["text": "kept"]) }
          return new["text"] == "remove" ? .remove : .resolve(new)
        }
      }
    ) { _, client in
      let selection = "id text n _version _deleted updatedAt"
      func write(_ verb: String, _ input: String, number: Int64? = nil) async throws -> JSONValue {
        let document = "mutation { \(verb)Note(input: {id: \"a\", _version: 1 \(input)}) { \(selection) } }"
        let answer = try await client.send(
          document, replaced: number == nil ? nil : [:], number: number ?? 1)
        return answer["errors"] == nil ? answer["data"]?["\(verb)Note"] ?? .null : answer
      }
      func create() async throws {
        _ = try await client.send(#"mutation { createNote(input: {id: "a", text: "1"}) { id } }"#)
        _ = try await client.send(#"mutation { updateNote(input: {id: "a", text: "2"}) { id } }"#)
      }
      try await create()
      // A deletion for which the handler has kept the record.
      let before = try await client.send(#"{ getNote(id: "a") { updatedAt } }"#)["data"]?["getNote"]?["updatedAt"]
      for _ in 0..<2 {
        let kept = try await write("delete", "", number: 1)
        #expect(kept["text"] == "kept" && kept["_deleted"] == .null && kept["_version"] == 3, "\(kept)")
        #expect(kept["updatedAt"] != before)
      }
      // An update for which it has removed the record.
      for _ in 0..<2 {
        let removed = try await write("update", #", text: "remove""#, number: 2)
        #expect(removed["text"] == "kept" && removed["_deleted"] == true && removed["_version"] == 4, "\(removed)")
      }
      #expect(try await client.send(#"{ getNote(id: "a") { id } }"#)["data"]?["getNote"] == .null)
      try await create()
      for (verb, input) in [("update", #", text: "remove""#), ("update", #", text: "x""#), ("delete", "")] {
        let answer = try await client.send(
          """
          mutation { \(verb)Note(input: {id: "a", _version: 1 \(input)}, condition: {n: {eq: 9}}) { id } }
          """)
        #expect(code(answer) == "CONDITION_FAILED", "\(verb) \(input): \(answer)")
      }
      #expect(try await client.send(#"{ getNote(id: "a") { text } }"#)["data"]?["getNote"] == ["text": "2"])
      // What a handler is shown and gives back is stamped anew.
      let resolved = try await write("update", #", text: "x", n: 1"#)
      #expect(resolved["text"] == "x" && resolved["n"] == 1, "\(resolved)")
    }
  }

  @Test func `an error of a handler refuses the write and leaves the record as it was`() async throws {
    struct Failure: Error {}
    try await SyncFixture.with(
      "type Note @model @versioned(conflicts: LAMBDA) { id: ID! text: String! }",
      { configuration in
        configuration.conflictHandlers["Note"] = ConflictHandler { conflict in
          switch conflict.newItem?["text"] {
          case "throw"?: throw Failure()
          case "null"?: return .resolve(["text": .null])
          default: return .resolve(["text": 5, "none": 1])
          }
        }
      }
    ) { _, client in
      _ = try await client.send(#"mutation { createNote(input: {id: "a", text: "1"}) { id } }"#)
      for text in ["throw", "null", "number"] {
        let answer = try await client.send(
          #"mutation { updateNote(input: {id: "a", text: "\#(text)", _version: 9}) { id } }"#)
        #expect(code(answer) == "ABORTED", "\(text): \(answer)")
      }
      #expect(
        try await client.send(#"{ getNote(id: "a") { text _version } }"#)["data"]?["getNote"]
          == ["text": "1", "_version": 1])
    }
  }
}
