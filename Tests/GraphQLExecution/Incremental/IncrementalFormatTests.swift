import MartletGraphQLExecution
import MartletJSON
import Testing

/// The proposal of 2022, and the bounds of delivery in parts.
@Suite struct IncrementalFormatTests {
  @Test func `the older format delivers by path and label`() async throws {
    let parts = try await Heroes.schema().parts(
      #"{ heroes(count: 1) { id ... @defer(label: "late") { name } } names @stream(initialCount: 3, label: "n") }"#,
      format: .older)
    #expect(parts[0] == ["data": ["heroes": [["id": "1"]], "names": ["a", "b", "c"]], "hasNext": true])
    #expect(
      parts[1] == [
        "incremental": [
          ["data": ["name": "Hero 1"], "path": ["heroes", 0], "label": "late"],
          ["items": ["d"], "path": ["names", 3], "label": "n"],
        ],
        "hasNext": false,
      ])
    #expect(parts.count == 2)
  }

  @Test func `the older format delivers each fragment whole`() async throws {
    let parts = try await Heroes.schema().parts(
      #"{ hero { id ... @defer(label: "a") { id name home { city } } ... @defer(label: "b") { name } } }"#,
      format: .older)
    let patches = parts.flatMap { $0["incremental"]?.array ?? [] }
    #expect(
      patches == [
        ["data": ["id": "1", "name": "Hero 1", "home": ["city": "Mos Eisley"]], "path": ["hero"], "label": "a"],
        ["data": ["name": "Hero 1"], "path": ["hero"], "label": "b"],
      ])
  }

  @Test func `the older format says what failed by null`() async throws {
    let parts = try await Heroes.schema().parts(
      "{ hero { id ... @defer { badNow } } numbers @stream(initialCount: 2) }", format: .older)
    let patches = parts.flatMap { $0["incremental"]?.array ?? [] }
    #expect(patches.map { $0["path"] } == [["hero"], ["numbers"]])
    #expect(patches[0]["data"] == .some(.null) && patches[0].messages == ["bad now"])
    #expect(patches[1]["items"] == .some(.null) && patches[1].messages.count == 1)
    #expect(parts.last?["hasNext"] == false)
  }

  @Test func `fragments beyond the limit come with what is around them`() async throws {
    var limits = ExecutionLimits()
    limits.deferredFragments = 2
    let parts = try await Heroes.schema(limits: limits).parts(
      "{ hero { ... @defer { id } ... @defer { name } ... @defer { later } } }")
    #expect(parts[0]["data"] == ["hero": ["later": "later 1"]])
    #expect(parts[0]["pending"]?.array?.count == 2)
    #expect(Assembly(parts).data["hero"]?["name"] == "Hero 1")
  }

  @Test func `fragments that spread each other do not multiply beyond the limit`() async throws {
    // Each of 14 fragments defers all those after it: 8,192 ways through them.
    var document = "{ hero { ...F0 @defer } }"
    for index in 0..<14 {
      let rest = (index + 1..<14).map { "...F\($0) @defer" }.joined(separator: " ")
      document += " fragment F\(index) on Hero { a\(index): id \(rest) }"
    }
    let parts = try await Heroes.schema().parts(document)
    #expect(Assembly(parts).faults == [])
    #expect(Assembly(parts).data["hero"].map { hero in (0..<14).allSatisfy { hero["a\($0)"] == "1" } } == true)
  }

  @Test func `parts beyond the limit of open parts fail`() async throws {
    var limits = ExecutionLimits()
    limits.openParts = 3
    let parts = try await Heroes.schema(limits: limits).parts("{ heroes(count: 5) { id ... @defer { name } } }")
    let assembly = Assembly(parts)
    #expect(assembly.faults == [])
    #expect(assembly.errors == 2)
    let failed = parts.flatMap { $0["completed"]?.array ?? [] }.filter { $0["errors"] != nil }
    #expect(failed.map(\.paths) == [[["heroes", 3]], [["heroes", 4]]])
  }

  @Test func `a request that cannot be executed has one payload`() async throws {
    let schema = try Heroes.schema()
    let wrong = try await schema.parts("{ hero { nothing ... @defer { id } } }")
    #expect(wrong.count == 1 && wrong[0]["data"] == nil && wrong[0]["hasNext"] == nil)
    let subscription = try await schema.parts("subscription { renamed { id } }")
    #expect(subscription.count == 1 && subscription[0].messages.count == 1)
  }

  @Test func `an operation without the directives keeps its plan`() throws {
    let schema = try Heroes.schema()
    let plain = try schema.prepare(Array("{ hero { id name } }".utf8), operationName: nil)
    #expect(!plain.hasIncrementalDirectives)
    #expect(plain.variant(for: [:], format: .current) == nil)
    #expect(plain.variant(for: [:]) === plain.variant(for: [:]))
    let deferred = try schema.prepare(Array("{ hero { id ... @defer { name } } }".utf8), operationName: nil)
    #expect(deferred.variant(for: [:], format: .current) === deferred.variant(for: [:], format: .current))
    #expect(deferred.variant(for: [:], format: .current) !== deferred.variant(for: [:], format: .older))
    #expect(!deferred.variant(for: [:]).isIncremental)
  }
}
