import Foundation
import MartletJSON

/// One message of a subscription: read to a tape, to values, and written again, beside Foundation.
enum JSONWorkload {
  static let message = #"""
    {"id":"c17","type":"next","payload":{"data":{"onCreateReading":{"id":"9f03a1c2-7d11-4b52-9a7c-0e53f6a3c911","topic":"t42","number":1042,"text":"af63bd4c8601b7df and some more text for the size of it","sent":"1700000000000000000"}}},"cursor":"9f03a1-1043"}
    """#

  static func run(operations: Int) throws {
    let bytes = Array(message.utf8)
    var total = 0
    let tape = try CPUTime.each(operations) { total += try JSONTape(bytes).root.count }
    let values = try CPUTime.each(operations) {
      if case .object(let object) = try JSONValue(parsing: bytes) { total += object.count }
    }
    let value = try JSONValue(parsing: bytes)
    var reused: [UInt8] = []
    let written = CPUTime.each(operations) {
      var writer = JSONWriter(reusing: reused)
      writer.value(value)
      total += writer.bytes.count
      reused = writer.bytes
    }
    let data = Data(bytes)
    let foundation = try CPUTime.each(operations / 10 + 1) {
      if let object = try JSONSerialization.jsonObject(with: data) as? [String: Any] { total += object.count }
    }
    var figure = BenchFigure("json")
    figure.add("operations", operations)
    figure.add("message_bytes", bytes.count)
    figure.add("tape_ns", tape)
    figure.add("values_ns", values)
    figure.add("write_ns", written)
    figure.add("foundation_ns", foundation)
    figure.add("check", total)
    figure.print()
  }
}
