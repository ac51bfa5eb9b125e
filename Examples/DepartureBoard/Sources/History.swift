import Foundation
import Martlet

/// Every event a board saw, in order, as JSON lines in a file.
final class History {
  private let handle: FileHandle
  /// How many events are there.
  private(set) var count = 0
  /// The cursor of the last event, after which to continue.
  private(set) var last: Cursor?

  /// Opens or makes the file. A last line that a kill cut short is removed; its event comes again.
  init(_ path: String) throws {
    if !FileManager.default.fileExists(atPath: path) { _ = FileManager.default.createFile(atPath: path, contents: nil) }
    handle = try FileHandle(forUpdating: URL(fileURLWithPath: path))
    let bytes = Array(try handle.readToEnd() ?? Data())
    let end = (bytes.lastIndex(of: UInt8(ascii: "\n")) ?? -1) + 1
    for line in bytes[..<end].split(separator: UInt8(ascii: "\n")) {
      let event = try JSONValue(parsing: Array(line))
      count += event["gap"] == nil ? 1 : 0
      if let cursor = event["cursor"]?.string.flatMap({ Cursor($0) }) { last = cursor }
    }
    try handle.truncate(atOffset: UInt64(end))
    _ = try handle.seekToEnd()
  }

  func append(_ event: JSONObject, cursor: Cursor?) throws {
    var line = JSONObject()
    if let cursor { line["cursor"] = .string(cursor.description) }
    for (key, value) in event { line[key] = value }
    try handle.write(contentsOf: Data((JSONValue.object(line).description + "\n").utf8))
    count += 1
    last = cursor ?? last
  }

  func append(_ gap: EventGap) throws {
    try handle.write(contentsOf: Data("{\"gap\":\"\(gap.reason.rawValue)\"}\n".utf8))
  }
}
