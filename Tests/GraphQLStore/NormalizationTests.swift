import MartletGraphQLStore
import MartletJSON
import Testing

@Suite struct NormalizationTests {
  static let list = "{ flights { id gate } }"

  @Test func `objects with type and id become records of their own`() async throws {
    let bench = Bench()
    try bench.write(Self.list, ["flights": [flight("1"), flight("2")]])
    let record = try #require(try await bench.record("Flight:1"))
    #expect(record[CacheField("gate")] == .leaf("A1"))
    #expect(record.typename == "Flight")
    let root = try #require(try await bench.record("QUERY_ROOT.flights"))
    #expect(root[CacheField("flights")] == .list([.reference(CacheKey("Flight:1")), .reference(CacheKey("Flight:2"))]))
  }

  @Test func `one object seen by two queries is kept once`() throws {
    let bench = Bench()
    try bench.write(Self.list, ["flights": [flight("1")]])
    try bench.write("{ flight(id: 1) { id gate } }", ["flight": flight("1", gate: "B2")])
    #expect(try bench.read(Self.list) == ["flights": [["id": "1", "gate": "B2"]]])
    #expect(bench.store.usage.records == 3)
  }

  @Test func `an integer id and the same id as text are one object`() throws {
    let bench = Bench()
    try bench.write("{ a { id } }", ["a": ["__typename": "T", "id": 7]])
    try bench.write("{ b { id } }", ["b": ["__typename": "T", "id": "7"]])
    #expect(try bench.read("{ a { id } }") == ["a": ["id": "7"]])
  }

  @Test func `texts that differ by bytes only are different objects`() throws {
    let bench = Bench()
    try bench.write("{ a { id v } }", ["a": ["__typename": "T", "id": "e\u{301}", "v": 1]])
    try bench.write("{ b { id v } }", ["b": ["__typename": "T", "id": "\u{e9}", "v": 2]])
    #expect(try bench.read("{ a { v } b { v } }") == ["a": ["v": 1], "b": ["v": 2]])
  }

  @Test func `key fields are configurable, several at a time, and found behind aliases`() async throws {
    let bench = Bench { $0.keyFields = ["Leg": ["line", "day"], "Note": []] }
    try bench.write(
      "{ leg { number: line day gate note { id text } } }",
      [
        "leg": [
          "__typename": "Leg", "number": "OS 1", "day": 3, "gate": "A",
          "note": ["__typename": "Note", "id": "1", "text": "x"],
        ]
      ])
    let record = try #require(try await bench.record(#"Leg:["OS 1",3]"#))
    #expect(record[CacheField("gate")] == .leaf("A"))
    guard case .object(let note)? = record[CacheField("note")] else {
      Issue.record("a type without key fields stays inside")
      return
    }
    #expect(note[CacheField("text")] == .leaf("x"))
  }

  @Test func `objects without identity stay inside and merge in place, but not in lists`() throws {
    let bench = Bench()
    try bench.write("{ me { name } tags { a } }", ["me": ["name": "Ann"], "tags": [["a": 1]]])
    try bench.write("{ me { age } tags { b } }", ["me": ["age": 7], "tags": [["b": 2]]])
    #expect(try bench.read("{ me { name age } tags { b } }") == ["me": ["name": "Ann", "age": 7], "tags": [["b": 2]]])
    #expect(try bench.read("{ tags { a } }") == nil)
  }

  @Test func `an object without identity of another type takes the place of the one before`() throws {
    let bench = Bench()
    try bench.write("{ pet { name } }", ["pet": ["__typename": "Cat", "name": "Tom"]])
    try bench.write("{ pet { bark } }", ["pet": ["__typename": "Dog", "bark": true]])
    #expect(try bench.read("{ pet { name } }") == nil)
  }

  @Test func `arguments have one form whatever their order, variables and defaults included`() throws {
    let bench = Bench()
    let written = #"query Q($size: Int = 2) { find(text: "a", kind: NEW, range: {to: 9, from: 1.0}, size: $size) }"#
    try bench.write(written, ["find": 5])
    let read = "query R($kind: Kind, $range: Range) { find(size: 2, range: $range, kind: $kind, text: \"a\") }"
    #expect(try bench.read(read, variables: ["kind": "NEW", "range": ["from": 1, "to": 9.0]]) == ["find": 5])
    #expect(try bench.read(written, variables: ["size": 3]) == nil)
    #expect(try bench.read("{ find }") == nil)
  }

  @Test func `an absent variable leaves its argument out, a null one does not`() throws {
    let bench = Bench()
    let document = "query Q($a: Int) { f(a: $a) }"
    try bench.write(document, ["f": 1])
    #expect(try bench.read("{ f }") == ["f": 1])
    #expect(try bench.read(document, variables: ["a": nil]) == nil)
    #expect(try bench.read("{ f(a: null) }") == nil)
  }

  @Test func `aliases name places in the result, not in the store`() throws {
    let bench = Bench()
    try bench.write(
      "{ first: flight(id: 1) { id gate } second: flight(id: 2) { key: id gate } }",
      ["first": flight("1"), "second": ["__typename": "Flight", "key": "2", "gate": "C"]])
    #expect(try bench.read("{ flight(id: 2) { id place: gate } }") == ["flight": ["id": "2", "place": "C"]])
  }

  @Test func `one field under two aliases is written from both`() throws {
    let bench = Bench()
    let document = "{ a: spot { x } b: spot { y } }"
    try bench.write(document, ["a": ["x": 1], "b": ["y": 2]])
    #expect(try bench.read("{ spot { x y } }") == ["spot": ["x": 1, "y": 2]])
    try bench.write(
      "{ o { id a: spot { x } b: spot { y } } }", ["o": ["__typename": "O", "id": 1, "a": ["x": 3], "b": ["y": 4]]])
    #expect(try bench.read("{ o { spot { x y } } }") == ["o": ["spot": ["x": 3, "y": 4]]])
  }

  @Test func `lists of lists, nulls and scalars of any shape come back as they were`() throws {
    let bench = Bench()
    let document = "{ grid { id } none empty blob rows }"
    let data: JSONValue = [
      "grid": [[["id": 1, "__typename": "C"], nil], nil, []], "none": nil, "empty": [], "blob": ["a": [1, nil]],
      "rows": [[1, 2], [3.5]],
    ]
    try bench.write(document, data)
    #expect(
      try bench.read(document) == [
        "grid": [[["id": 1], nil], nil, []], "none": nil, "empty": [], "blob": ["a": [1, nil]],
        "rows": [[1, 2], [3.5]],
      ])
  }

  @Test func `include and skip decide what is written and read`() throws {
    let bench = Bench()
    let document = "query Q($x: Boolean!) { a b @include(if: $x) ... @skip(if: $x) { c } }"
    try bench.write(document, ["a": 1, "b": 2], variables: ["x": true])
    #expect(try bench.read(document, variables: ["x": true]) == ["a": 1, "b": 2])
    #expect(try bench.read(document, variables: ["x": false]) == nil)
  }

  @Test func `fields that failed do not overwrite what is known`() throws {
    let bench = Bench()
    let document = "{ flight(id: 1) { id gate } list { id gate } }"
    try bench.write(document, ["flight": flight("1"), "list": [flight("2")]])
    try bench.write(
      document, ["flight": ["__typename": "Flight", "id": "1", "gate": nil], "list": [nil]],
      errors: [
        ["message": "down", "path": ["flight", "gate"]], ["message": "down", "path": ["list", 0, "gate"]],
      ])
    #expect(try bench.read(document) == ["flight": ["id": "1", "gate": "A1"], "list": [["id": "2", "gate": "A1"]]])
  }

  @Test func `a mutation's objects are kept, its root fields are not`() async throws {
    let bench = Bench()
    try bench.write("mutation { move(id: 1) { id gate } }", ["move": flight("1", gate: "Z")])
    #expect(bench.store.usage.records == 1)
    let record = try await bench.record("Flight:1")
    #expect(record?[CacheField("gate")] == .leaf("Z"))
  }

  @Test func `a subscription's last event is kept`() throws {
    let bench = Bench()
    let document = "subscription { moved { id gate } }"
    try bench.write(document, ["moved": flight("1")])
    try bench.write(document, ["moved": flight("2")])
    #expect(try bench.read(document) == ["moved": ["id": "2", "gate": "A1"]])
  }

  @Test func `data that do not fit the document are refused whole, with the place`() throws {
    let bench = Bench()
    let error = #expect(throws: GraphQLStoreError.self) {
      try bench.write("{ a flights { id gate } }", ["a": 1, "flights": [flight("1"), 5]])
    }
    #expect(error?.code == .unexpectedData)
    #expect(error?.message.hasSuffix("at flights.1") == true)
    #expect(bench.store.usage.records == 0)
  }

  @Test func `documents that cannot be used are typed errors`() throws {
    let bench = Bench()
    #expect(throws: GraphQLStoreError.self) { try bench.read("{ a") }
    let error = #expect(throws: GraphQLStoreError.self) { try bench.read("query A { a } query B { b }") }
    #expect(error?.code == .unknownOperation)
  }

  @Test func `a fragment that contains itself ends with a typed error`() throws {
    let bench = Bench()
    try bench.write(
      "{ a { id next { id } } }", ["a": ["__typename": "N", "id": 1, "next": ["__typename": "N", "id": 1]]])
    try bench.write(
      "{ n { id next { id } } }", ["n": ["__typename": "N", "id": 1, "next": ["__typename": "N", "id": 1]]])
    let error = #expect(throws: GraphQLStoreError.self) {
      try bench.read("{ n { ...F } } fragment F on N { id next { ...F } }")
    }
    #expect(error?.code == .tooDeep)
  }

  @Test func `documents are parsed once and only so many are kept`() throws {
    let bench = Bench { $0.limits.documents = 4 }
    for _ in 0..<10 { _ = try bench.read("{ a }") }
    #expect(bench.store.counters.documentsParsed == 1)
    for number in 0..<20 { _ = try bench.read("{ a\(number) }") }
    #expect(bench.store.counters.documentsParsed == 21)
    _ = try bench.read("{ a19 }")
    #expect(bench.store.counters.documentsParsed == 21)
    _ = try bench.read("{ a }")
    #expect(bench.store.counters.documentsParsed == 22)
  }
}
