import MartletGraphQLWire
import MartletJSON
import MartletWire
import Testing

/// Responses in parts, put together by the client.
@Suite struct IncrementalResultTests {
  private func merged(_ parts: [JSONValue]) throws -> IncrementalAssembly {
    var result = IncrementalAssembly()
    for part in parts { try result.receive(part) }
    return result
  }

  @Test func `a deferred fragment takes its place in the current shape, subPath included`() throws {
    let result = try merged([
      [
        "data": ["hero": ["id": "1", "home": ["name": "Tatooine"]]],
        "pending": [["id": "0", "path": ["hero"], "label": "late"]], "hasNext": true,
      ],
      ["incremental": [["id": "0", "data": ["name": "Luke"]]], "hasNext": true],
      [
        // Some servers repeat path and label, and send null for what there is not.
        "incremental": [
          ["id": "0", "subPath": ["home"], "data": ["moons": 2], "path": ["hero"], "label": "late", "extensions": nil]
        ],
        "completed": [["id": "0"]], "hasNext": false,
      ],
    ])
    #expect(result.isComplete)
    #expect(
      result.response
        == ["data": ["hero": ["id": "1", "home": ["name": "Tatooine", "moons": 2], "name": "Luke"]]])
  }

  @Test func `a streamed list grows by its items, and announcements may come later`() throws {
    let result = try merged([
      ["data": ["a": [["n": 1]]], "pending": [["id": "0", "path": ["a"]]], "hasNext": true],
      ["incremental": [["id": "0", "items": [["n": 2], ["n": 3]]]], "hasNext": true],
      [
        "pending": [["id": "1", "path": ["a", 2]]],
        "incremental": [["id": "0", "items": [["n": 4]]], ["id": "1", "data": ["m": true]]],
        "completed": [["id": "0"], ["id": "1"]], "hasNext": true,
      ],
      ["hasNext": false],
    ])
    #expect(result.response == ["data": ["a": [["n": 1], ["n": 2], ["n": 3, "m": true], ["n": 4]]]])
    #expect(result.partCount == 4)
  }

  @Test func `the shape of 2022 names paths, and the ones before are increments themselves`() throws {
    let of2022 = try merged([
      ["data": ["hero": ["id": "1"], "list": [1]], "hasNext": true],
      [
        "incremental": [
          ["path": ["hero"], "label": "late", "data": ["name": "Luke"], "extensions": ["took": 3]],
          ["path": ["list", 1], "items": [2, 3]],
        ], "hasNext": true,
      ],
      ["incremental": [["path": ["hero"], "data": nil, "errors": [["message": "gone"]]]], "hasNext": false],
    ])
    #expect(
      of2022.response
        == [
          "data": ["hero": ["id": "1", "name": "Luke"], "list": [1, 2, 3]], "errors": [["message": "gone"]],
          "extensions": ["took": 3],
        ])
    let older = try merged([
      ["data": ["hero": ["id": "1"], "list": [["n": 1]]], "hasNext": true],
      ["path": ["hero"], "data": ["name": "Luke"], "label": "late", "hasNext": true],
      ["path": ["list", 1], "data": ["n": 2], "hasNext": true],
      ["path": ["list", 0], "data": ["m": 2], "hasNext": true],
      ["hasNext": false],
    ])
    #expect(
      older.response == ["data": ["hero": ["id": "1", "name": "Luke"], "list": [["n": 1, "m": 2], ["n": 2]]]])
  }

  @Test func `errors of parts are kept, and a part that failed leaves its fields out`() throws {
    let result = try merged([
      [
        "data": ["hero": ["id": "1"]], "errors": [["message": "first"]],
        "pending": [["id": "0", "path": ["hero"]], ["id": "1", "path": []]], "hasNext": true,
      ],
      [
        "incremental": [["id": "1", "data": ["x": nil], "errors": [["message": "second"]]]],
        "completed": [["id": "0", "errors": [["message": "third"]]], ["id": "1"]], "hasNext": false,
      ],
    ])
    #expect(result.data == ["hero": ["id": "1"], "x": nil])
    #expect(result.errors.compactMap { $0["message"]?.string } == ["first", "second", "third"])
  }

  @Test func `a response in one piece is complete, and what follows the end is ignored`() throws {
    var result = try merged([["data": ["a": 1]]])
    #expect(result.isComplete)
    try result.receive(["incremental": 7])
    #expect(result.response == ["data": ["a": 1]])
    #expect(try merged([["errors": [["message": "no"]]]]).isComplete)
  }

  @Test func `malformed parts are named by their rule and place`() throws {
    let first: JSONValue = [
      "data": ["hero": ["id": "1"], "list": [1]], "pending": [["id": "0", "path": ["hero"]]], "hasNext": true,
    ]
    let cases: [([JSONValue], IncrementalFailure.Rule, Int)] = [
      ([7], .notAnObject, 0),
      ([["hasNext": true]], .noResult, 0),
      ([first, []], .notAnObject, 1),
      ([first, ["incremental": ["id": "0"]]], .list, 1),
      ([first, ["incremental": [7]]], .list, 1),
      ([first, ["data": ["hero": nil], "hasNext": true]], .content, 1),
      ([first, ["pending": [["path": []]]]], .id, 1),
      ([first, ["pending": [["id": "0", "path": []]]]], .duplicateID, 1),
      ([first, ["pending": [["id": "1"]]]], .path, 1),
      ([first, ["incremental": [["id": "9", "data": ["x": 1]]]]], .unknownID, 1),
      ([first, ["completed": [["id": "9"]]]], .unknownID, 1),
      ([first, ["completed": [[:]]]], .id, 1),
      ([first, ["incremental": [["id": "0"]]]], .content, 1),
      ([first, ["incremental": [["id": "0", "data": 7]]]], .content, 1),
      ([first, ["incremental": [["id": "0", "items": 7]]]], .content, 1),
      ([first, ["incremental": [["id": "0", "items": [7]]]]], .path, 1),
      ([first, ["incremental": [["data": ["x": 1]]]]], .path, 1),
      ([first, ["incremental": [["path": ["nobody"], "data": ["x": 1]]]]], .path, 1),
      ([first, ["incremental": [["path": ["list", 5], "items": [1]]]]], .path, 1),
      ([first, ["incremental": [["path": ["list", -1, "x"], "data": ["x": 1]]]]], .path, 1),
      ([first, ["incremental": [["path": .array(Array(repeating: "x", count: 257)), "data": [:]]]]], .path, 1),
      ([first, ["hasNext": true], ["errors": "no"]], .list, 2),
    ]
    for (parts, rule, place) in cases {
      let failure = #expect(throws: IncrementalFailure.self) { try merged(parts) }
      #expect(failure?.rule == rule, "\(parts)")
      #expect(failure?.part == place, "\(parts)")
    }
    #expect(throws: IncrementalFailure(rule: .truncated, part: 1)) { try merged([first]).inputEnded() }
    var few = IncrementalLimits()
    few.pending = 1
    var result = IncrementalAssembly(limits: few)
    try result.receive(first)
    let failure = #expect(throws: IncrementalFailure.self) {
      try result.receive(["pending": [["id": "1", "path": []]]])
    }
    #expect(failure?.rule == .tooManyPending)
  }

  @Test func `a directive is found in any spelling, and other names are none`() {
    for document in ["{ a @defer { b } }", "{ ...A@stream(initialCount: 1) }", "{ a @ \n,defer }"] {
      #expect(PartsRequest.occur(in: document), "\(document)")
    }
    for document in ["{ defer stream }", "{ a @deferred @include(if: true) }", "{ a @", "query($stream: Int) { a }"] {
      #expect(!PartsRequest.occur(in: document), "\(document)")
    }
  }

  @Test func `a client's wish is understood by the server's reading of it`() {
    for (field, understood) in [
      (IncrementalAccept.both, IncrementalAccept.current(spec: "v0.2")),
      (IncrementalAccept.currentOnly, .current(spec: "v0.2")), (IncrementalAccept.olderOnly, .older(spec: "20220824")),
    ] {
      #expect(IncrementalAccept(AcceptedMediaType.parse(HTTPHeaders([("Accept", field)]))) == understood)
    }
  }
}
