import MartletJSON
import MartletServer
import Testing

@testable import MartletHTTPWire
@testable import MartletWire

/// The upload specification row by row over real sockets: what is wrong is refused with its status, and nothing runs.
@Suite(.timeLimit(.minutes(1))) struct UploadTableTests {
  private static let schema = """
    scalar Upload
    type Note @model { id: ID! }
    type Mutation { put(file: Upload, files: [Upload!]): Int }
    """

  private static let one = #"{"query":"mutation ($f: Upload) { put(file: $f) }","variables":{"f":null,"n":1}}"#
  private static let list =
    #"{"query":"mutation ($l: [Upload!]) { put(files: $l) }","variables":{"l":[null,null]}}"#

  /// Parts by hand: names and contents.
  private static func body(_ parts: [(name: String, text: String)]) -> String {
    var text = ""
    for part in parts {
      text += "--b\r\nContent-Disposition: form-data; name=\"\(part.name)\"\r\n\r\n\(part.text)\r\n"
    }
    return text + "--b--\r\n"
  }

  private struct Row: Sendable {
    var name: String
    var parts: [(name: String, text: String)]
    var status = 400
    var says: String
  }

  private static let mapped = #"{"0":["variables.f"]}"#
  private static let rows: [Row] = [
    Row(name: "no parts", parts: [], says: "operations"),
    Row(name: "the map first", parts: [("map", mapped), ("operations", one), ("0", "x")], says: "operations"),
    Row(name: "the file before the map", parts: [("operations", one), ("0", "x"), ("map", mapped)], says: "\"0\""),
    Row(name: "no map", parts: [("operations", one)], says: "map"),
    Row(name: "operations that are not JSON", parts: [("operations", "{"), ("map", "{}")], says: "operations"),
    Row(name: "operations without a query", parts: [("operations", "{}"), ("map", "{}")], says: "query"),
    Row(name: "a map that is not JSON", parts: [("operations", one), ("map", "{")], says: "map"),
    Row(name: "a map that is a list", parts: [("operations", one), ("map", "[]")], says: "map"),
    Row(
      name: "a path that is not a list", parts: [("operations", one), ("map", #"{"0":"variables.f"}"#)], says: "paths"),
    Row(name: "a path that is a number", parts: [("operations", one), ("map", #"{"0":[1]}"#)], says: "map"),
    Row(
      name: "a path to nothing", parts: [("operations", one), ("map", #"{"0":["variables.g"]}"#), ("0", "x")],
      says: "variables.g"),
    Row(
      name: "a path to a value", parts: [("operations", one), ("map", #"{"0":["variables.n"]}"#), ("0", "x")],
      says: "variables.n"),
    Row(
      name: "a path outside the variables", parts: [("operations", one), ("map", #"{"0":["query"]}"#), ("0", "x")],
      says: "query"),
    Row(
      name: "a path beyond a list", parts: [("operations", list), ("map", #"{"0":["variables.l.2"]}"#), ("0", "x")],
      says: "variables.l.2"),
    Row(
      name: "a place taken twice",
      parts: [("operations", one), ("map", #"{"0":["variables.f"],"1":["variables.f"]}"#), ("0", "x"), ("1", "y")],
      says: "variables.f"),
    Row(name: "a file that did not come", parts: [("operations", one), ("map", mapped)], says: "\"0\""),
    Row(
      name: "a file that came twice", parts: [("operations", one), ("map", mapped), ("0", "x"), ("0", "y")],
      says: "twice"),
    Row(
      name: "too many files in the map",
      parts: [("operations", list), ("map", #"{"0":["a"],"1":["b"],"2":["c"]}"#)], status: 413, says: "2 files"),
    Row(
      name: "too many parts",
      parts: [("operations", one), ("map", mapped), ("0", "x")] + [(String, String)](repeating: ("x", "x"), count: 22),
      status: 413, says: "2 files"),
    Row(
      name: "operations over their limit",
      parts: [("operations", one + String(repeating: " ", count: 2_000)), ("map", mapped), ("0", "x")], status: 413,
      says: "operations"),
    Row(
      name: "a list of too many operations",
      parts: [("operations", "[\(one),\(one),\(one)]"), ("map", "{}")], says: "at most 2"),
  ]

  @Test func `what is wrong is named, logged, counted, and nothing runs`() async throws {
    let ran = Count()
    let log = LogRecorder()
    try await Served.with(
      Self.schema,
      {
        $0.log = log.log
        $0.limits.http.uploadedFiles = 2
        $0.limits.http.bodyBytes = 1_000
        $0.limits.http.uploadBytes = 4_000
        $0.limits.http.operationsPerRequest = 2
        $0.resolvers = { $0.resolve("Mutation", "put") { _ in ran.add() } }
      }
    ) { server in
      for (index, row) in Self.rows.enumerated() {
        let answer = try await Self.send(Self.body(row.parts), server)
        #expect(answer.status == row.status, "\(row.name): \(answer.text)")
        #expect(
          answer.json["errors"]?[0]?["message"]?.string?.contains(row.says) == true, "\(row.name): \(answer.text)")
        #expect(answer.json["errors"]?[0]?["extensions"]?["code"] == "INVALID_UPLOAD", "\(row.name)")
        #expect(answer.json["data"] == nil)
        #expect(log.count(of: LogRecorder.violation) == index + 1, "\(row.name)")
        #expect(try await Metrics.read(server)["martlet_protocol_errors_total"] == index + 1, "\(row.name)")
      }
      #expect(ran.value == 0)
      // A file over the whole request's limit is refused while it arrives.
      let large = Self.body([
        ("operations", Self.one), ("map", Self.mapped), ("0", String(repeating: "x", count: 5_000)),
      ])
      #expect(try await Self.send(large, server).status == 413)
      #expect(ran.value == 0)
      let good = Self.body([("operations", Self.one), ("map", Self.mapped), ("0", "x")])
      #expect(try await Self.send(good, server).json["data"]?["put"] == 1)
      // A list of operations with one file for both.
      let batch = Self.body([
        ("operations", "[\(Self.one),\(Self.one)]"), ("map", #"{"0":["0.variables.f","1.variables.f"]}"#), ("0", "x"),
      ])
      #expect(try await Self.send(batch, server).json.array?.count == 2)
      #expect(ran.value == 3)
      // What the map does not speak of is left alone, fields and files alike.
      let more = Self.body([
        ("csrf", "t"), ("operations", Self.one), ("map", Self.mapped), ("0", "x"), ("1", "y"),
      ])
      #expect(try await Self.send(more, server).json["data"]?["put"] == 4)
    }
  }

  private static func send(_ body: String, _ server: GraphQLServer) async throws -> HTTPRequest.Answer {
    try await HTTPRequest.send(
      "POST", "/graphql", port: server.port, headers: [("Content-Type", "multipart/form-data; boundary=b")], body: body)
  }
}
