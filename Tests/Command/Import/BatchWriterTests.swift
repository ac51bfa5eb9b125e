import Foundation
import MartletCommandLine
import MartletJSON
import Testing

@testable import MartletCommand

/// What `martlet import` sends to a server, and what it reports.
struct BatchWriterTests {
  /// Keeps records like a server, and counts what it was asked.
  private final class Server {
    var records: [String: JSONObject] = [:]
    var creations = 0
    var updates = 0
    var questions: [String] = []
    var largest = 0
    /// Bytes of a request that it takes, and the requests that it refused for theirs.
    var most = Int.max
    var refused = 0

    func perform(_ document: String, _ variables: JSONObject, _ isMutation: Bool) throws(CommandFailure) -> JSONObject {
      let size = document.utf8.count + JSONValue.object(variables).description.utf8.count
      if size > most {
        refused += 1
        return ["errors": [["message": "too large", "extensions": ["code": "BODY_TOO_LARGE"]]]]
      }
      guard isMutation else {
        questions.append(document)
        return ["data": .object(answer(document))]
      }
      largest = max(largest, JSONValue.object(variables).description.utf8.count)
      let writes = variables["writes"]?.array ?? []
      var next = records
      for write in writes {
        let isCreation = write["createThing"] != nil
        guard let row = (write["createThing"] ?? write["updateThing"])?.object, let id = row["id"]?.string else {
          return ["errors": [["message": "no id"]]]
        }
        if isCreation, next[id] != nil {
          return ["errors": [["message": "exists", "extensions": ["code": "ALREADY_EXISTS"]]]]
        }
        for (name, value) in row { next[id, default: JSONObject()][name] = value }
        if isCreation { creations += 1 } else { updates += 1 }
      }
      records = next
      return ["data": JSONValue.object(JSONObject())]
    }

    /// Answers `r0: getThing(id: "1") { … }` and so on.
    private func answer(_ document: String) -> JSONObject {
      var data = JSONObject()
      for part in document.split(separator: "}") {
        guard let name = part.split(separator: ":").first?.split(whereSeparator: { " {".contains($0) }).last,
          name.hasPrefix("r"), let id = part.split(separator: "\"").dropFirst().first
        else { continue }
        data[String(name)] = records[String(id)].map { .object($0) } ?? .null
      }
      return data
    }
  }

  private func writer(_ server: Server) throws -> BatchWriter {
    var answer = ConversionTests.answer.object ?? JSONObject()
    answer["write"] = [
      "inputFields": [
        ["name": "createThing", "type": ["name": "CreateThingInput"]],
        ["name": "updateThing", "type": ["name": "UpdateThingInput"]],
      ]
    ]
    let target = try ImportTarget(model: "Thing", answer: .object(answer))
    return BatchWriter(target: target) { document, variables, isMutation throws(CommandFailure) in
      try server.perform(document, variables, isMutation)
    }
  }

  private func row(_ id: Int, count: Int) -> JSONObject { ["id": .string("\(id)"), "count": .int(Int64(count))] }

  @Test func `the second run writes nothing, and a changed row alone is written`() async throws {
    let server = Server()
    var rows = (0..<700).map { row($0, count: $0) }
    var writer = try writer(server)
    #expect(try await writer.write(rows) == BatchWriter.Counts(new: 700))
    #expect(server.questions.isEmpty)
    var second = try self.writer(server)
    #expect(try await second.write(rows) == BatchWriter.Counts(unchanged: 700))
    #expect((server.creations, server.updates) == (700, 0))
    rows[3] = row(3, count: -3)
    rows.append(row(900, count: 1))
    #expect(try await second.write(rows) == BatchWriter.Counts(new: 1, changed: 1, unchanged: 699))
    #expect((server.creations, server.updates) == (701, 1))
  }

  @Test func `a batch of any size is split, by writes, by bytes and by the fields of a question`() async throws {
    let server = Server()
    var large = (0..<20).map { id -> JSONObject in
      ["id": .string("\(id)"), "state": .string(String(repeating: "x", count: 100_000))]
    }
    large += (20..<3_000).map { row($0, count: 1) }
    var writer = try writer(server)
    #expect(try await writer.write(large) == BatchWriter.Counts(new: 3_000))
    #expect(server.largest < 1 << 20)
    var second = try self.writer(server)
    #expect(try await second.write(large).unchanged == 3_000)
    #expect(server.questions.allSatisfy { $0.split(separator: ":").count < 1_002 })
  }

  @Test func `a batch of any size is read no further than one request takes`() throws {
    let target = try ImportTarget(model: "Thing", answer: ConversionTests.answer)
    func sizes(_ rows: Int, bytes: Int, batch: Int) throws -> [Int] {
      let text = "id,state\n" + (0..<rows).map { "\($0),\(String(repeating: "x", count: bytes))\n" }.joined()
      var reader = try RowReader(Array(text.utf8), format: .csv)
      let conversion = try RowConversion(
        target, header: reader.header, renamed: [:], missing: [], ignoresUnknown: false)
      var sizes: [Int] = []
      while let rows = try ImportCommand.next(batch, of: &reader, by: conversion) { sizes.append(rows.count) }
      return sizes
    }
    #expect(try sizes(2_500, bytes: 1, batch: 1_000_000) == [1_000, 1_000, 500])
    #expect(try sizes(250, bytes: 1, batch: 100) == [100, 100, 50])
    #expect(try sizes(8, bytes: 100_000, batch: 1_000_000) == [6, 2])
  }

  @Test func `a server that takes less in one request is given less from then on, down to one row`() async throws {
    let server = Server()
    server.most = 1_000
    var writer = try writer(server)
    let rows = (0..<200).map { row($0, count: $0) }
    #expect(try await writer.write(rows) == BatchWriter.Counts(new: 200))
    #expect(try await writer.write(rows) == BatchWriter.Counts(unchanged: 200))
    #expect(server.refused < 20)
    let long: JSONObject = ["id": "long", "state": .string(String(repeating: "x", count: 1_000))]
    do {
      _ = try await writer.write([row(300, count: 1), long])
      Issue.record("the long row was written")
    } catch {
      #expect(error.message.contains("(id: \"long\")"), "\(error.message)")
    }
    #expect(server.records["300"] != nil)
  }

  @Test func `a key twice in one batch ends with the later values in one write, and a second run writes nothing`()
    async throws
  {
    let server = Server()
    var writer = try writer(server)
    let rows = [row(1, count: 1), row(1, count: 2), row(1, count: 2)]
    #expect(try await writer.write(rows) == BatchWriter.Counts(new: 1, unchanged: 2))
    #expect(server.records["1"]?["count"] == 2)
    #expect(server.updates == 0)
    let creations = server.creations
    #expect(try await writer.write(rows) == BatchWriter.Counts(unchanged: 3))
    #expect((server.creations, server.updates) == (creations, 0))
    // Rows that give different fields of one record are joined.
    let parts: [JSONObject] = [["id": "2", "count": 1], ["id": "2", "state": "OPEN"]]
    #expect(try await writer.write(parts) == BatchWriter.Counts(new: 1, unchanged: 1))
    #expect(server.records["2"] == ["id": "2", "count": 1, "state": "OPEN"])
    #expect(try await writer.write(parts) == BatchWriter.Counts(unchanged: 2))
  }

  @Test func `a column that is there twice, or two columns of one field, is an error`() throws {
    let target = try ImportTarget(model: "Thing", answer: ConversionTests.answer)
    let twice = #expect(throws: CommandFailure.self) { try RowReader(Array("id,count,id\n1,2,3\n".utf8), format: .csv) }
    #expect(twice?.message == "The column 'id' is there twice.")
    let renamed = #expect(throws: CommandFailure.self) {
      try RowConversion(
        target, header: ["id", "key"], renamed: ["key": "id"], missing: [], ignoresUnknown: false)
    }
    #expect(renamed?.message == "The columns 'id' and 'key' are both the field 'id'.")
  }

  @Test func `a file larger than what is read at once gives the same rows`() throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("rows-\(UUID().uuidString).csv")
    defer { try? FileManager.default.removeItem(at: folder) }
    let text = "\u{FEFF}id,tags\n" + (0..<40_000).map { "\($0),\"a\n\"\"\($0)é\"\"\"\n" }.joined()
    try text.write(to: folder, atomically: true, encoding: .utf8)
    #expect(text.utf8.count > 3 << 18)
    var reader = try RowReader(try ByteSource(path: folder.path), format: .csv)
    #expect(reader.header == ["id", "tags"])
    var count = 0
    while let row = try reader.next() {
      guard case .cells(let cells, _) = row else { break }
      #expect(cells == ["\(count)", "a\n\"\(count)é\""])
      count += 1
    }
    #expect(count == 40_000)
    #expect(reader.fraction == 1)
  }
}
