import MartletJSON
import Testing

@testable import MartletGraphQLClientWire
@testable import MartletGraphQLWire
@testable import MartletHTTPWire
@testable import MartletWire

@Suite struct MultipartRequestTests {
  private static let type = "multipart/form-data; boundary=b"

  /// A body written out by hand: names, file names and contents in order.
  private func body(_ parts: [(name: String, fileName: String?, text: String)]) -> [UInt8] {
    var text = ""
    for part in parts {
      text += "--b\r\nContent-Disposition: form-data; name=\"\(part.name)\""
      if let fileName = part.fileName { text += "; filename=\"\(fileName)\"\r\nContent-Type: text/plain" }
      text += "\r\n\r\n\(part.text)\r\n"
    }
    return Array((text + "--b--\r\n").utf8)
  }

  private let operations = #"{"query":"mutation($f:Upload!){put(f:$f)}","variables":{"f":null,"n":1}}"#

  private func read(_ parts: [(name: String, fileName: String?, text: String)]) throws(UploadError) -> RequestBatch {
    var limits = UploadLimits()
    limits.files = 2
    limits.fileBytes = 100
    limits.operationsBytes = 200
    return try MultipartRequest.read(contentType: Self.type, body: body(parts), limits: limits)
  }

  @Test func `a file stands in the variable that the map names`() throws {
    let batch = try read([
      ("operations", nil, operations), ("map", nil, #"{"0":["variables.f"]}"#), ("0", "a.txt", "hello"),
    ])
    #expect(!batch.isList)
    let request = try #require(batch.requests.first)
    #expect(request.variables["f"]?["filename"] == "a.txt")
    #expect(request.variables["f"]?["mimetype"] == "text/plain")
    #expect(request.variables["f"]?["content"] == "aGVsbG8=")
    #expect(request.variables["n"] == 1)
  }

  @Test func `one file may stand in several places, also of a list and of a batch`() throws {
    let batch = try read([
      (
        "operations", nil,
        #"[{"query":"{a}","variables":{"l":[null,{"x":null}]}},{"query":"{b}","variables":{"f":null}}]"#
      ),
      ("map", nil, #"{"k":["0.variables.l.0","0.variables.l.1.x"],"m":["1.variables.f"]}"#), ("k", "k", "1"),
      ("m", "m", "2"),
    ])
    #expect(batch.isList)
    #expect(batch.requests[0].variables["l"]?[0]?["content"] == "MQ==")
    #expect(batch.requests[0].variables["l"]?[1]?["x"]?["content"] == "MQ==")
    #expect(batch.requests[1].variables["f"]?["content"] == "Mg==")
  }

  @Test(
    arguments: [
      ([], .missing("operations")),
      ([("map", "{}")], .order(expected: "operations", found: "map")),
      ([("operations", "OPS")], .missing("map")),
      ([("operations", "OPS"), ("0", "x")], .missing("map")),
      ([("operations", "OPS"), ("operations", "OPS"), ("map", "{}")], .order(expected: "map", found: "operations")),
      ([("operations", "OPS"), ("map", "[]")], .map("must be an object in JSON")),
      ([("operations", "OPS"), ("map", #"{"0":"x"}"#)], .map("\"0\" must be a list of paths")),
      ([("operations", "OPS"), ("map", #"{"0":["variables.f"]}"#)], .fileMissing("0")),
      ([("operations", "OPS"), ("map", #"{"0":["variables.n"]}"#), ("0", "x")], .path("variables.n")),
      ([("operations", "OPS"), ("map", #"{"0":["variables.g"]}"#), ("0", "x")], .path("variables.g")),
      ([("operations", "OPS"), ("map", #"{"0":["query"]}"#), ("0", "x")], .path("query")),
      ([("operations", "OPS"), ("map", #"{"0":["0.variables.f"]}"#), ("0", "x")], .path("0.variables.f")),
      (
        [("operations", "OPS"), ("map", #"{"0":["variables.f"]}"#), ("0", "x"), ("0", "y")], .duplicateFile("0")
      ),
      (
        [("operations", "OPS"), ("map", #"{"0":["a"],"1":["b"],"2":["c"]}"#)], .tooManyFiles(limit: 2)
      ),
      (
        [("operations", "OPS"), ("map", #"{"0":["variables.f"]}"#), ("0", String(repeating: "x", count: 101))],
        .tooLarge(part: "0", limit: 100)
      ),
      (
        [("operations", String(repeating: " ", count: 201)), ("map", "{}")],
        .multipart(MultipartFailure(.partTooLarge))
      ),
    ] as [([(String, String)], UploadError)])
  func `what is wrong is named`(parts: [(String, String)], expected: UploadError) {
    do {
      _ = try read(parts.map { ($0.0, nil, $0.1 == "OPS" ? operations : $0.1) })
      Issue.record("accepted")
    } catch {
      #expect(error == expected)
      #expect((400..<500).contains(error.status))
    }
  }

  @Test func `other fields of the form are somebody else's, and a file may belong nowhere`() throws {
    let batch = try read([
      ("csrf", nil, "t"), ("operations", nil, operations), ("note", nil, "n"),
      ("map", nil, #"{"0":["variables.f"],"1":[]}"#), ("note", nil, "n"), ("1", "b.txt", "b"), ("0", "a.txt", "a"),
    ])
    #expect(batch.requests[0].variables["f"]?["content"] == "YQ==")
    let extra = try read([
      ("operations", nil, operations), ("map", nil, #"{"0":["variables.f"]}"#), ("0", "a.txt", "a"),
      ("x", "x.txt", "x"),
    ])
    #expect(extra.requests[0].variables["f"]?["content"] == "YQ==")
  }

  @Test func `files count whether or not the map speaks of them, and so many fields are enough`() {
    let begun: [(name: String, fileName: String?, text: String)] = [
      ("operations", nil, operations), ("map", nil, #"{"0":["variables.f"]}"#), ("0", "a.txt", "a"),
    ]
    #expect(throws: UploadError.tooManyFiles(limit: 2)) { try read(begun + [("x", "x", "x"), ("y", "y", "y")]) }
    let fields = [(name: String, fileName: String?, text: String)](repeating: ("field", nil, "x"), count: 22)
    #expect(throws: UploadError.tooManyFiles(limit: 2)) { try read(begun + fields) }
  }

  @Test func `a file before the map is out of order`() {
    #expect(throws: UploadError.order(expected: "map", found: "0")) {
      try read([("operations", nil, operations), ("0", "a.txt", "a"), ("map", nil, "{}")])
    }
  }

  @Test func `operations that are not a request are refused with the reason`() {
    #expect(throws: UploadError.operations(GraphQLRequestError(.missingQuery, "query", "a GraphQL document"))) {
      try read([("operations", nil, "{}"), ("map", nil, "{}")])
    }
  }

  @Test func `a body cut short or without a legal boundary is refused`() throws {
    let whole = body([("operations", nil, operations), ("map", nil, "{}")])
    #expect(throws: UploadError.multipart(MultipartFailure(.truncated, part: 1))) {
      try MultipartRequest.read(contentType: Self.type, body: Array(whole.dropLast(6)))
    }
    for type in ["multipart/form-data", "multipart/form-data; boundary=\"\"", "application/json"] {
      #expect(throws: UploadError.self) { try MultipartRequest.read(contentType: type, body: whole) }
    }
  }

  @Test func `what the writer writes the reader reads`() throws {
    let file = UploadedFile(name: "ä \"q\"\\.bin", mediaType: "image/png", bytes: [0, 13, 10, 45, 45, 255])
    let body = MultipartRequest.body(
      operations: Array(operations.utf8), attachments: [.init(path: "variables.f", file: file)], boundary: "zz")
    let batch = try MultipartRequest.read(contentType: MultipartRequest.contentType(boundary: "zz"), body: body)
    #expect(batch.requests[0].variables["f"]?["content"]?.string == Base64.encode(file.bytes))
    #expect(batch.requests[0].variables["f"]?["mimetype"] == "image/png")
    #expect(batch.requests[0].variables["f"]?["filename"] == "ä %22q%22\\.bin")
  }

  // MARK: Batches

  @Test func `a list is a batch up to its limit`() throws {
    var limits = BatchLimits()
    limits.operations = 2
    let two = try RequestBatch(json: Array(#" [{"query":"{a}"},{"query":"{b}"}]"#.utf8), limits: limits)
    #expect(two.isList && two.requests.map(\.query) == ["{a}", "{b}"])
    let rows: [(String, GraphQLRequestError.Rule)] = [
      ("[]", .emptyBatch), (#"[{"query":"{a}"},{"query":"{b}"},{"query":"{c}"}]"#, .batchTooLarge),
      ("[1]", .wrongType), ("[{}]", .missingQuery), ("[", .notJSON),
    ]
    for (body, rule) in rows {
      do {
        _ = try RequestBatch(json: Array(body.utf8), limits: limits)
        Issue.record("accepted \(body)")
      } catch {
        #expect(error.rule == rule)
      }
    }
  }
}
