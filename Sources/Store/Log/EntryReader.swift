internal import MartletJSON
internal import MartletModels

/// Reads what `EntryWriter` wrote. Bytes come from the disk: whatever they are, the answer is a value or an error.
struct EntryReader {
  /// Nesting beyond which bytes are taken for damage; values are checked against a smaller limit when written.
  private static let deepest = 200

  private let bytes: [UInt8]
  private(set) var position: Int

  init(_ bytes: [UInt8], from position: Int = 0) {
    self.bytes = bytes
    self.position = min(position, bytes.count)
  }

  var isAtEnd: Bool { position >= bytes.count }

  mutating func byte() throws(StoreError) -> UInt8 {
    guard position < bytes.count else { throw Self.damaged }
    defer { position += 1 }
    return bytes[position]
  }

  mutating func unsigned() throws(StoreError) -> UInt64 {
    var value: UInt64 = 0
    var shift: UInt64 = 0
    while true {
      let next = try byte()
      guard shift < 64 else { throw Self.damaged }
      value |= UInt64(next & 0x7F) << shift
      if next < 0x80 { return value }
      shift += 7
    }
  }

  /// A count of things that each take at least one byte, so that damage cannot ask for more memory than there is.
  mutating func count() throws(StoreError) -> Int {
    let value = try unsigned()
    guard value <= UInt64(bytes.count - position) else { throw Self.damaged }
    return Int(value)
  }

  /// A small non-negative number that need not be a count.
  mutating func number() throws(StoreError) -> Int {
    guard let value = Int(exactly: try unsigned()) else { throw Self.damaged }
    return value
  }

  mutating func signed() throws(StoreError) -> Int64 {
    let folded = try unsigned()
    return Int64(bitPattern: folded >> 1) ^ -Int64(bitPattern: folded & 1)
  }

  mutating func fixed() throws(StoreError) -> UInt64 {
    var value: UInt64 = 0
    for shift in stride(from: UInt64(0), to: 64, by: 8) { value |= UInt64(try byte()) << shift }
    return value
  }

  /// A signed number that was written as its bit pattern, being positive almost always.
  mutating func signedPattern() throws(StoreError) -> Int64 {
    Int64(bitPattern: try unsigned())
  }

  mutating func flag() throws(StoreError) -> Bool {
    switch try byte() {
    case 0: false
    case 1: true
    default: throw Self.damaged
    }
  }

  mutating func blob() throws(StoreError) -> [UInt8] {
    let length = try count()
    defer { position += length }
    return Array(bytes[position..<(position + length)])
  }

  /// Everything that has not been read.
  mutating func rest() -> [UInt8] {
    defer { position = bytes.count }
    return Array(bytes[position...])
  }

  mutating func values() throws(StoreError) -> [JSONValue] {
    var values: [JSONValue] = []
    for _ in 0..<(try count()) { values.append(try value()) }
    return values
  }

  mutating func key() throws(StoreError) -> RecordKey { RecordKey(values: try values()) }

  mutating func text() throws(StoreError) -> String {
    let length = try count()
    defer { position += length }
    return String(decoding: bytes[position..<(position + length)], as: UTF8.self)
  }

  mutating func value(depth: Int = 0) throws(StoreError) -> JSONValue {
    guard depth < Self.deepest else { throw Self.damaged }
    switch try byte() {
    case EntryWriter.Tag.null: return .null
    case EntryWriter.Tag.no: return .bool(false)
    case EntryWriter.Tag.yes: return .bool(true)
    case EntryWriter.Tag.int: return .int(try signed())
    case EntryWriter.Tag.uint: return .uint(try unsigned())
    case EntryWriter.Tag.double: return .double(Double(bitPattern: try fixed()))
    case EntryWriter.Tag.string: return .string(try text())
    case EntryWriter.Tag.array:
      var elements: [JSONValue] = []
      for _ in 0..<(try count()) { elements.append(try value(depth: depth + 1)) }
      return .array(elements)
    case EntryWriter.Tag.object:
      var object = JSONObject()
      for _ in 0..<(try count()) {
        let key = try text()
        object[key] = try value(depth: depth + 1)
      }
      return .object(object)
    default: throw Self.damaged
    }
  }

  static var damaged: StoreError { StoreError(.damaged, "a log entry is damaged") }
}
