internal import MartletJSON
internal import MartletModels

/// Appends the log's compact binary form to a byte array that is used again for each entry.
///
/// Integers are variable-length, seven bits a byte, low bits first; signed ones are folded so that small negative
/// numbers stay short. Text and arrays carry their length in front.
struct EntryWriter {
  /// What introduces each value.
  enum Tag {
    static let null: UInt8 = 0
    static let no: UInt8 = 1
    static let yes: UInt8 = 2
    static let int: UInt8 = 3
    static let uint: UInt8 = 4
    static let double: UInt8 = 5
    static let string: UInt8 = 6
    static let array: UInt8 = 7
    static let object: UInt8 = 8
  }

  var bytes: [UInt8] = []

  mutating func byte(_ value: UInt8) {
    bytes.append(value)
  }

  mutating func unsigned(_ value: UInt64) {
    var rest = value
    while rest >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(truncatingIfNeeded: rest))
  }

  mutating func count(_ value: Int) {
    unsigned(UInt64(bitPattern: Int64(value)))
  }

  mutating func signed(_ value: Int64) {
    unsigned(UInt64(bitPattern: (value << 1) ^ (value >> 63)))
  }

  /// A number that takes eight bytes, low bits first: for checksums and random names, which use all of them.
  mutating func fixed(_ value: UInt64) {
    for shift in stride(from: UInt64(0), to: 64, by: 8) { bytes.append(UInt8(truncatingIfNeeded: value >> shift)) }
  }

  mutating func flag(_ value: Bool) {
    byte(value ? 1 : 0)
  }

  mutating func blob(_ value: [UInt8]) {
    count(value.count)
    bytes.append(contentsOf: value)
  }

  mutating func values(_ values: [JSONValue]) {
    count(values.count)
    for value in values { self.value(value) }
  }

  mutating func key(_ key: RecordKey) {
    count(key.count)
    for place in 0..<key.count { value(key[place]) }
  }

  mutating func text(_ value: String) {
    var value = value
    let length = value.utf8.count
    count(length)
    value.makeContiguousUTF8()
    bytes.append(contentsOf: value.utf8)
  }

  mutating func value(_ value: JSONValue) {
    switch value {
    case .null: byte(Tag.null)
    case .bool(let flag): byte(flag ? Tag.yes : Tag.no)
    case .int(let number):
      byte(Tag.int)
      signed(number)
    case .uint(let number):
      byte(Tag.uint)
      unsigned(number)
    case .double(let number):
      byte(Tag.double)
      fixed(number.bitPattern)
    case .string(let string):
      byte(Tag.string)
      text(string)
    case .array(let elements):
      byte(Tag.array)
      count(elements.count)
      for element in elements { self.value(element) }
    case .object(let object):
      byte(Tag.object)
      count(object.count)
      for member in object {
        text(member.key)
        self.value(member.value)
      }
    }
  }
}
