/// Writes JSON into bytes; commas are its business.
///
/// ```swift
/// var writer = JSONWriter()
/// writer.beginObject()
/// writer.key("id")
/// writer.int(7)
/// writer.endObject()   // {"id":7}
/// ```
package struct JSONWriter {
  /// What has been written.
  package var bytes: [UInt8]
  /// Whether a value has been written at this level, so that the next needs a comma.
  private var needsComma = false

  package init(reusing bytes: [UInt8] = []) {
    self.bytes = bytes
    self.bytes.removeAll(keepingCapacity: true)
  }

  /// A writer with room for so many bytes, which larger values make larger.
  package init(room: Int) {
    bytes = []
    bytes.reserveCapacity(room)
  }

  /// The most that `makeRoom` makes at once: items may be shorter than those before them.
  private static let mostRoom = 1 << 20

  /// Makes room for `count` more items of a list, of whose first `measured` items the bytes since `start` are: a long
  /// list is not copied each time that it has doubled.
  package mutating func makeRoom(for count: Int, since start: Int, _ measured: Int) {
    let mean = (bytes.count - start) / max(measured, 1) + 1
    let needed = bytes.count + min(count, Self.mostRoom / mean) * (mean + mean / 8)
    // At least doubled, so that many lists within a list do not copy it as often.
    if needed > bytes.capacity { bytes.reserveCapacity(max(needed, bytes.capacity * 2)) }
  }

  private mutating func separate() {
    if needsComma { bytes.append(UInt8(ascii: ",")) }
    needsComma = true
  }

  package mutating func beginObject() {
    separate()
    bytes.append(UInt8(ascii: "{"))
    needsComma = false
  }

  package mutating func endObject() {
    bytes.append(UInt8(ascii: "}"))
    needsComma = true
  }

  package mutating func beginArray() {
    separate()
    bytes.append(UInt8(ascii: "["))
    needsComma = false
  }

  package mutating func endArray() {
    bytes.append(UInt8(ascii: "]"))
    needsComma = true
  }

  package mutating func key(_ name: String) {
    separate()
    JSONText.append(name, to: &bytes)
    bytes.append(UInt8(ascii: ":"))
    needsComma = false
  }

  /// A member's name already encoded, quotes and colon included.
  package mutating func encodedKey(_ name: [UInt8]) {
    separate()
    bytes.append(contentsOf: name)
    needsComma = false
  }

  package mutating func null() { raw("null") }
  package mutating func bool(_ value: Bool) { raw(value ? "true" : "false") }

  package mutating func string(_ value: String) {
    separate()
    JSONText.append(value, to: &bytes)
  }

  package mutating func int(_ value: Int64) {
    separate()
    if value < 0 { bytes.append(UInt8(ascii: "-")) }
    digits(value.magnitude)
  }

  package mutating func uint(_ value: UInt64) {
    separate()
    digits(value)
  }

  /// The shortest text that reads back as the same double; `null` for what JSON cannot say.
  package mutating func double(_ value: Double) {
    guard value.isFinite else { return null() }
    separate()
    bytes.append(contentsOf: value.description.utf8)
  }

  /// A value already encoded.
  package mutating func raw(_ encoded: [UInt8]) {
    separate()
    bytes.append(contentsOf: encoded)
  }

  private mutating func raw(_ text: StaticString) {
    separate()
    text.withUTF8Buffer { unsafe bytes.append(contentsOf: $0) }
  }

  package mutating func value(_ value: JSONValue) {
    switch value {
    case .null: null()
    case .bool(let value): bool(value)
    case .int(let value): int(value)
    case .uint(let value): uint(value)
    case .double(let value): double(value)
    case .string(let value): string(value)
    case .array(let values):
      beginArray()
      for value in values { self.value(value) }
      endArray()
    case .object(let object):
      beginObject()
      for (name, value) in object {
        key(name)
        self.value(value)
      }
      endObject()
    }
  }

  private mutating func digits(_ value: UInt64) {
    let start = bytes.count
    var rest = value
    repeat {
      bytes.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10))
      rest /= 10
    } while rest > 0
    // In place: reversing a slice would copy all bytes first.
    var (low, high) = (start, bytes.count - 1)
    while low < high {
      bytes.swapAt(low, high)
      low += 1
      high -= 1
    }
  }
}
