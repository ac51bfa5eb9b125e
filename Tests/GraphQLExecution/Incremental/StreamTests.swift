import MartletGraphQLExecution
import MartletJSON
import MartletRuntime
import Testing

/// `@stream`: the first items at once, the others as they come, in order.
@Suite struct StreamTests {
  @Test func `the first items come at once and the others later`() async throws {
    let parts = try await Heroes.schema().parts(#"{ names @stream(initialCount: 1, label: "rest") }"#)
    #expect(
      parts == [
        ["data": ["names": ["a"]], "pending": [["id": "0", "path": ["names"], "label": "rest"]], "hasNext": true],
        ["incremental": [["id": "0", "items": ["b", "c", "d"]]], "completed": [["id": "0"]], "hasNext": false],
      ])
  }

  @Test(arguments: [4, 5, 100])
  func `a list that is complete at first is not announced`(count: Int) async throws {
    let parts = try await Heroes.schema().parts(
      "query($n: Int!) { names @stream(initialCount: $n) }", variables: ["n": .int(Int64(count))])
    #expect(parts == [["data": ["names": ["a", "b", "c", "d"]]]])
  }

  @Test func `a negative count is an error of the field`() async throws {
    let parts = try await Heroes.schema().parts("{ names @stream(initialCount: -1) hero { id } }")
    #expect(parts.count == 1)
    #expect(parts[0]["data"] == ["names": nil, "hero": ["id": "1"]])
    #expect(parts[0].messages == ["Argument 'initialCount' of '@stream' must not be negative."])
  }

  @Test func `only the outer list is streamed`() async throws {
    let parts = try await Heroes.schema().parts("{ grid @stream(initialCount: 1) }")
    #expect(parts[0]["data"] == ["grid": [[1, 2]]])
    #expect(parts[1]["incremental"] == [["id": "0", "items": [[3, 4]]]])
  }

  @Test func `items are completed ahead of delivery only up to the limit`() async throws {
    var limits = ExecutionLimits()
    limits.streamedItemsAhead = 3
    let batches = Diary()
    let parts = try await Heroes.schema(limits: limits, batches: batches).parts(
      "{ heroes(count: 8) @stream(initialCount: 1) { rank } }")
    #expect(parts.dropFirst().map { $0["incremental"]?[0]?["items"]?.array?.count } == [3, 3, 1])
    #expect(batches.entries == ["rank of 1", "rank of 3", "rank of 3", "rank of 1"])
    #expect(Assembly(parts).faults == [])
  }

  @Test func `items wait for those before them`() async throws {
    let latch = Latch()
    let schema = try Heroes.schema { schema in
      schema.resolve("Hero", "later") { request in
        if Heroes.number(request) == 2 { await latch.pass() } else { latch.open() }
        return "later \(Heroes.number(request))"
      }
    }
    let parts = try await schema.parts("{ heroes @stream(initialCount: 1) { later } }")
    let items = parts.flatMap { $0["incremental"]?.array ?? [] }.flatMap { $0["items"]?.array ?? [] }
    #expect(items == [["later": "later 2"], ["later": "later 3"]])
  }

  // MARK: Errors

  @Test func `an item that may be null is null with its error`() async throws {
    let parts = try await Heroes.schema().parts("{ maybe @stream { badNow } }")
    let patch = try #require(parts.last?["incremental"]?[0])
    #expect(patch["items"] == [nil, nil, nil])
    #expect(patch.paths == [["maybe", 0, "badNow"], ["maybe", 2, "badNow"]])
    #expect(parts.last?["completed"] == [["id": "0"]])
  }

  @Test(arguments: ["badNow", "badLater"])
  func `an item that may not be null ends the list`(field: String) async throws {
    let schema = try Heroes.schema { schema in
      schema.compute("Hero", "badNow") { request -> String in
        if Heroes.number(request) == 2 { throw ResolverError("bad now") }
        return "fine"
      }
      schema.resolve("Hero", "badLater") { request -> String in
        if Heroes.number(request) == 2 { throw ResolverError("bad later") }
        return "fine"
      }
    }
    let parts = try await schema.parts("{ strict @stream { \(field) } }")
    let assembly = Assembly(parts)
    #expect(assembly.faults == [])
    #expect(assembly.data == ["strict": [[JSONValue.string(field).string ?? "": "fine"]]])
    let completed = parts.flatMap { $0["completed"]?.array ?? [] }
    #expect(completed.count == 1)
    #expect(completed.first?.paths == [["strict", 1, .string(field)]])
  }

  @Test func `a null among items that may not be null ends the list`() async throws {
    let parts = try await Heroes.schema().parts("{ numbers @stream(initialCount: 1) }")
    #expect(Assembly(parts).data == ["numbers": [1, 2]])
    #expect(parts.last?["completed"]?[0]?.paths == [["numbers", 2]])
  }

  @Test func `a failure among the first items is the list's`() async throws {
    let parts = try await Heroes.schema().parts("{ numbers @stream(initialCount: 3) }")
    #expect(parts.count == 1)
    #expect(parts[0]["data"] == ["numbers": nil])
  }

  // MARK: Sequences

  @Test func `a sequence's items come one by one`() async throws {
    let (stream, continuation) = AsyncStream.makeStream(of: JSONValue.self)
    let schema = try Heroes.schema { schema in schema.list("Query", "feed") { _ in stream } }
    continuation.yield(Heroes.hero(1))
    var parts: [JSONValue] = []
    for await part in schema.executeIncrementally("{ feed @stream(initialCount: 1) { id } }") {
      parts.append(try JSONValue(parsing: part.bytes))
      if parts.count < 4 { continuation.yield(Heroes.hero(parts.count + 1)) } else { continuation.finish() }
    }
    #expect(parts[0]["data"] == ["feed": [["id": "1"]]])
    let later: [JSONValue] = [
      [["id": "0", "items": [["id": "2"]]]], [["id": "0", "items": [["id": "3"]]]],
      [["id": "0", "items": [["id": "4"]]]], .null,
    ]
    #expect(parts.dropFirst().map { $0["incremental"] ?? .null } == later)
    #expect(parts.last == ["completed": [["id": "0"]], "hasNext": false])
  }

  @Test func `without stream a sequence is read to its end`() async throws {
    let answer = try await Heroes.schema().answer("{ feed { id } }")
    #expect(answer == ["data": ["feed": [["id": "1"], ["id": "2"], ["id": "3"], ["id": "4"]]]])
  }

  @Test func `a sequence that fails ends the list after what it gave`() async throws {
    let schema = try Heroes.schema { schema in
      schema.list("Query", "feed") { _ in
        AsyncThrowingStream<JSONValue, any Error> { continuation in
          continuation.yield(Heroes.hero(1))
          continuation.yield(Heroes.hero(2))
          continuation.finish(throwing: ResolverError("broken", extensions: ["code": "BROKEN"]))
        }
      }
    }
    let parts = try await schema.parts("{ feed @stream(initialCount: 1) { id } }")
    #expect(Assembly(parts).data == ["feed": [["id": "1"], ["id": "2"]]])
    let completed = try #require(parts.last?["completed"]?[0])
    #expect(completed["errors"]?[0]?["message"] == "broken" && completed.paths == [["feed"]])
    #expect(completed["errors"]?[0]?["extensions"] == ["code": "BROKEN"])
    let whole = try await schema.answer("{ feed { id } }")
    #expect(whole["data"] == ["feed": nil] && whole.messages == ["broken"])
  }

  @Test func `an endless sequence is cut at the limit of list items`() async throws {
    var limits = ExecutionLimits()
    limits.listItems = 10
    let schema = try Heroes.schema(limits: limits) { schema in
      schema.list("Query", "feed") { _ in AsyncStream<JSONValue> { Heroes.hero(1) } }
    }
    let whole = try await schema.answer("{ feed { id } }")
    #expect(whole["data"] == ["feed": nil] && whole.messages == ["The response has more than 10 list items."])
    let parts = try await schema.parts("{ feed @stream(initialCount: 2) { id } }")
    #expect(Assembly(parts).data["feed"]?.array?.count == 10)
    #expect(parts.last?["completed"]?[0]?.messages == ["The response has more than 10 list items."])
  }

  // MARK: Ends

  @Test func `a reader that stops lets the source go and ends what is under way`() async throws {
    let ended = Latch()
    let counter = Counter()
    let schema = try Heroes.schema { schema in
      // Made here, so that only the operation holds it: a stream that is cancelled between two reads terminates when it
      // is released.
      schema.list("Query", "feed") { _ in
        AsyncStream<JSONValue> { continuation in
          continuation.onTermination = { _ in
            counter.increment()
            ended.open()
          }
          continuation.yield(Heroes.hero(1))
        }
      }
    }
    for await part in schema.executeIncrementally("{ feed @stream(initialCount: 1) { id } }") {
      #expect(part.hasNext)
      break
    }
    await ended.pass()
    #expect(counter.value == 1)
  }

  @Test func `cancelling ends resolvers under way and delivers no more`() async throws {
    let begun = Latch()
    let cancelled = Counter()
    let schema = try Heroes.schema { schema in
      schema.resolve("Hero", "later") { _ in
        await withTaskCancellationHandler {
          begun.open()
          let (never, continuation) = AsyncStream.makeStream(of: Int.self)
          for await _ in never {}
          withExtendedLifetime(continuation) {}
        } onCancel: {
          cancelled.increment()
        }
        return "never"
      }
    }
    let plan = try schema.prepare(
      Array("{ heroes { id ... @defer { later } } }".utf8), operationName: nil)
    let payloads = Counter()
    let task = ConcurrentSpawner()
    let over = Latch()
    let spawned = task.spawn {
      await plan.execute(incrementally: [:]) { _ in payloads.increment() }
      over.open()
    }
    await begun.pass()
    spawned.cancel()
    await over.pass()
    #expect(payloads.value == 1)
    #expect(cancelled.value >= 1)
  }
}
