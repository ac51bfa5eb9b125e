import MartletGraphQLExecution
import MartletJSON
import Testing

/// `@defer`: what is delivered when, once, and with which errors.
@Suite struct DeferTests {
  @Test func `a deferred fragment comes after the rest`() async throws {
    let parts = try await Heroes.schema().parts(#"{ hero { id ... @defer(label: "late") { name } } }"#)
    #expect(
      parts == [
        [
          "data": ["hero": ["id": "1"]], "pending": [["id": "0", "path": ["hero"], "label": "late"]], "hasNext": true,
        ],
        ["incremental": [["id": "0", "data": ["name": "Hero 1"]]], "completed": [["id": "0"]], "hasNext": false],
      ])
  }

  @Test func `a field that is delivered already is not delivered again`() async throws {
    let parts = try await Heroes.schema().parts(
      "{ hero { id name home { city } ... @defer { id name home { city planet } } } }")
    #expect(
      parts.last == [
        "incremental": [["id": "0", "subPath": ["home"], "data": ["planet": "Tatooine"]]], "completed": [["id": "0"]],
        "hasNext": false,
      ])
  }

  @Test func `a fragment with nothing of its own is never announced`() async throws {
    let parts = try await Heroes.schema().parts("{ hero { id name ... @defer { id name } } }")
    #expect(parts == [["data": ["hero": ["id": "1", "name": "Hero 1"]]]])
  }

  @Test func `an inner fragment takes the place of an empty outer one`() async throws {
    let parts = try await Heroes.schema().parts(
      #"{ hero { id ... @defer(label: "outer") { id ... @defer(label: "inner") { name } } } }"#)
    #expect(parts.first?["pending"] == [["id": "0", "path": ["hero"], "label": "inner"]])
    #expect(Assembly(parts).faults == [])
  }

  @Test func `a nested fragment is announced when the outer one has come`() async throws {
    let parts = try await Heroes.schema().parts(
      #"{ hero { id ... @defer(label: "a") { name ... @defer(label: "b") { rank } } } }"#)
    #expect(parts.map { $0["pending"]?.array?.compactMap { $0["label"]?.string } ?? [] } == [["a"], ["b"], []])
    #expect(parts[1]["completed"] == [["id": "0"]])
  }

  @Test func `a field of two fragments comes once, with the one that is ready first`() async throws {
    let latch = Latch()
    let schema = try Heroes.schema { schema in
      schema.resolve("Hero", "later") { _ in
        await latch.pass()
        return "later"
      }
    }
    var parts: [JSONValue] = []
    for await part in schema.executeIncrementally(
      #"{ hero { ... @defer(label: "slow") { name later } ... @defer(label: "quick") { name id } } }"#)
    {
      parts.append(try JSONValue(parsing: part.bytes))
      if parts.count == 2 { latch.open() }
    }
    #expect(parts[1]["completed"] == [["id": "1"]])
    #expect(parts[1]["incremental"]?.array?.count == 2)
    #expect(
      parts[2] == [
        "incremental": [["id": "0", "data": ["later": "later"]]], "completed": [["id": "0"]], "hasNext": false,
      ])
  }

  @Test func `a slow fragment does not hold up a quick one's batch`() async throws {
    let latch = Latch()
    let schema = try Heroes.schema { schema in
      schema.resolve("Hero", "later") { _ in
        await latch.pass()
        return "later"
      }
    }
    var parts: [JSONValue] = []
    for await part in schema.executeIncrementally("{ hero { ... @defer { later } ... @defer { rank } } }") {
      parts.append(try JSONValue(parsing: part.bytes))
      if parts.count == 2 { latch.open() }
    }
    #expect(parts[1]["incremental"] == [["id": "1", "data": ["rank": 1]]])
    #expect(parts.count == 3)
  }

  @Test func `deferred fields of many objects share a batch`() async throws {
    let batches = Diary()
    let parts = try await Heroes.schema(batches: batches).parts("{ heroes(count: 20) { id ... @defer { rank } } }")
    #expect(batches.entries == ["rank of 20"])
    #expect(parts.first?["pending"]?.array?.count == 20)
    #expect(Assembly(parts).faults == [])
  }

  @Test func `deferred fields are not asked for before the rest has been delivered`() async throws {
    let diary = Diary()
    let schema = try Heroes.schema { schema in
      schema.compute("Hero", "name") { _ in
        diary.write("name")
        return "n"
      }
    }
    let plan = try schema.prepare(Array("{ hero { id ... @defer { name } } }".utf8), operationName: nil)
    await plan.execute(incrementally: [:]) { payload in
      diary.write(payload.hasNext ? "initial" : "update")
    }
    #expect(diary.entries == ["initial", "name", "update"])
  }

  // MARK: Conditions

  @Test func `if false defers nothing`() async throws {
    let schema = try Heroes.schema()
    let document = "query($on: Boolean = true) { hero { id ... @defer(if: $on) { name } } names @stream(if: false) }"
    let off = try await schema.parts(document, variables: ["on": false])
    #expect(off == [["data": ["hero": ["id": "1", "name": "Hero 1"], "names": ["a", "b", "c", "d"]]]])
    #expect(try await schema.parts(document, variables: ["on": true]).count == 2)
    #expect(try await schema.parts(document).count == 2)
  }

  @Test func `a null condition is an error`() async throws {
    let parts = try await Heroes.schema().parts(
      "query($on: Boolean = true) { ... @defer(if: $on) { names } }", variables: ["on": .null])
    #expect(parts.count == 1)
    #expect(parts[0]["data"] == nil && parts[0].messages.count == 1)
  }

  @Test func `an ordinary execution has everything at once`() async throws {
    let answer = try await Heroes.schema().answer("{ hero { id ... @defer { name } } names @stream }")
    #expect(answer == ["data": ["hero": ["id": "1", "name": "Hero 1"], "names": ["a", "b", "c", "d"]]])
  }

  // MARK: Errors

  @Test func `an error inside a fragment has its whole path and comes with it`() async throws {
    let parts = try await Heroes.schema().parts("{ heroes(count: 2) { id ... @defer { best { bad } } } }")
    let patches = try #require(parts.last?["incremental"]?.array)
    #expect(patches.map { $0["data"] } == [["best": ["bad": nil]], ["best": ["bad": nil]]])
    #expect(patches.map(\.paths) == [[["heroes", 0, "best", "bad"]], [["heroes", 1, "best", "bad"]]])
    #expect(parts.last?["completed"] == [["id": "0"], ["id": "1"]])
  }

  @Test(arguments: ["badNow", "badLater", "strictBest { badNow }", "strictBest { badLater }"])
  func `a null that may not stand ends the fragment, and nothing else`(field: String) async throws {
    let parts = try await Heroes.schema().parts("{ hero { id ... @defer { name \(field) } } }")
    #expect(parts.first?["data"] == ["hero": ["id": "1"]])
    let last = try #require(parts.last)
    #expect(last["incremental"] == nil && last["hasNext"] == false)
    let completed = try #require(last["completed"]?[0])
    #expect(completed["id"] == "0")
    #expect(completed.messages.count == 1)
    #expect(completed.paths.first?.array?.first == "hero")
  }

  @Test func `a null inside stops at the first place where it may stand`() async throws {
    let parts = try await Heroes.schema().parts("{ hero { id ... @defer { best { badLater } name } } }")
    let patch = try #require(parts.last?["incremental"]?[0])
    #expect(patch["data"] == ["best": nil, "name": "Hero 1"])
    #expect(patch.paths == [["hero", "best", "badLater"]])
  }

  @Test func `a failed fragment takes those inside it along`() async throws {
    let diary = Diary()
    let schema = try Heroes.schema { schema in
      schema.compute("Hero", "name") { _ in
        diary.write("name")
        return "n"
      }
    }
    let parts = try await schema.parts("{ hero { id ... @defer { badLater ... @defer { name } } } }")
    #expect(parts.count == 2)
    #expect(parts[1]["pending"] == nil && parts[1]["hasNext"] == false)
    #expect(diary.entries == [])
  }

  @Test func `a fragment below a null is never announced`() async throws {
    let parts = try await Heroes.schema().parts("{ hero { best { badLater ... @defer { name } } } }")
    #expect(parts.count == 1)
    #expect(parts[0]["data"] == ["hero": ["best": nil]] && parts[0]["pending"] == nil)
  }

  @Test func `a failed part fails each fragment it belongs to and no other`() async throws {
    let parts = try await Heroes.schema().parts(
      #"{ hero { ... @defer(label: "a") { badNow name } ... @defer(label: "b") { badNow } ... @defer(label: "c") { rank } } }"#
    )
    let completed = parts.flatMap { $0["completed"]?.array ?? [] }
    #expect(completed.count == 3)
    #expect(completed.filter { $0["errors"] != nil }.map { $0["id"] } == ["0", "1"])
    #expect(Assembly(parts).data == ["hero": ["rank": 1]])
  }
}
