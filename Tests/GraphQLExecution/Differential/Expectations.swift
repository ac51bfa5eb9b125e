import Foundation
import MartletJSON

/// One line of the expectations that `Conformance/graphql-core/generate.py` wrote.
struct Expectation: Sendable {
  struct Fault: Hashable, Sendable, CustomStringConvertible {
    var rule: String
    var message: String
    var places: [[Int]]

    var description: String { "\(rule) \(places) \(message)" }
  }

  var number: Int
  var schema: String
  var document: String
  var operation: String?
  var variables: JSONObject
  /// What is wrong with the document; nil when it is valid.
  var faults: [Fault]?
  var response: JSONValue?

  init(number: Int, line: ArraySlice<UInt8>) throws {
    let value = try JSONValue(parsing: Array(line))
    self.number = number
    schema = value["s"]?.string ?? ""
    document = value["q"]?.string ?? ""
    operation = value["o"]?.string
    variables = value["v"]?.object ?? JSONObject()
    response = value["r"]
    faults = value["e"]?.array?.map { fault in
      Fault(
        rule: fault[0]?.string ?? "", message: Self.normalized(fault[1]?.string ?? ""),
        places: (fault[2]?.array ?? []).map { ($0.array ?? []).compactMap { $0.int.map { Int($0) } } })
    }
  }

  /// graphql-core calls null `None` and prints an empty object with two spaces.
  static func normalized(_ message: String) -> String {
    message.replacing("not to be None", with: "not to be null").replacing("{  }", with: "{}")
  }

  static let folder = URL(filePath: #filePath).deletingLastPathComponent()
    .appending(path: "../../../Conformance/graphql-core").standardizedFileURL

  /// All committed expectations.
  static func all() throws -> [Expectation] {
    let unpack = Process()
    unpack.executableURL = URL(filePath: "/usr/bin/env")
    unpack.arguments = ["gzip", "-dc", folder.appending(path: "expectations.jsonl.gz").path]
    let pipe = Pipe()
    unpack.standardOutput = pipe
    try unpack.run()
    let bytes = [UInt8](try pipe.fileHandleForReading.readToEnd() ?? Data())
    unpack.waitUntilExit()
    return try bytes.split(separator: UInt8(ascii: "\n")).enumerated().map { number, line in
      try Expectation(number: number, line: line)
    }
  }

  static func schemaText(_ name: String) throws -> String {
    try String(contentsOf: folder.appending(path: "schemas/\(name).graphql"), encoding: .utf8)
  }
}
