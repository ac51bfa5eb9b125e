internal import MartletJSON
internal import MartletModels

/// Where a page ended: the last record's values in the order's fields. Opaque to clients, hexadecimal on the wire.
struct PageToken {
  private static let format: UInt8 = 1
  /// Length beyond which a text cannot be one of this store's tokens.
  private static let longest = 65_536

  /// The folder's number of the model and of the order's fields, with their direction: what the token is for.
  var scope: [Int]
  var values: [JSONValue]

  init(_ shape: RecordShape, _ order: [SortOrder], values: [JSONValue]) {
    scope = Self.scope(shape, order)
    self.values = values
  }

  static func scope(_ shape: RecordShape, _ order: [SortOrder]) -> [Int] {
    [shape.storedNumber] + order.map { shape.columns[$0.field].storedNumber * 2 + ($0.isAscending ? 0 : 1) }
  }

  var text: String {
    var writer = EntryWriter()
    writer.byte(Self.format)
    writer.count(scope.count)
    for number in scope { writer.count(number) }
    for value in values { writer.value(value) }
    let digits = Array("0123456789abcdef".utf8)
    var hexadecimal: [UInt8] = []
    hexadecimal.reserveCapacity(writer.bytes.count * 2)
    for byte in writer.bytes {
      hexadecimal.append(digits[Int(byte >> 4)])
      hexadecimal.append(digits[Int(byte & 15)])
    }
    return String(decoding: hexadecimal, as: UTF8.self)
  }

  /// Reads a token made for this model and order.
  init(_ text: String, _ shape: RecordShape, _ order: [SortOrder]) throws(StoreError) {
    var reader = EntryReader(try Self.bytes(text))
    do {
      guard try reader.byte() == Self.format else { throw Self.foreign }
      scope = []
      for _ in 0..<(try reader.count()) { scope.append(try reader.number()) }
      guard scope == Self.scope(shape, order) else { throw Self.foreign }
      values = []
      for _ in order { values.append(try reader.value()) }
    } catch {
      throw Self.foreign
    }
  }

  private static func bytes(_ text: String) throws(StoreError) -> [UInt8] {
    guard text.utf8.count <= longest, text.utf8.count.isMultiple(of: 2) else { throw foreign }
    var bytes: [UInt8] = []
    var high: UInt8?
    for character in text.utf8 {
      let digit: UInt8
      switch character {
      case 0x30...0x39: digit = character - 0x30
      case 0x61...0x66: digit = character - 0x61 + 10
      default: throw foreign
      }
      if let first = high {
        bytes.append(first << 4 | digit)
        high = nil
      } else {
        high = digit
      }
    }
    return bytes
  }

  private static var foreign: StoreError { StoreError(.invalidToken, "the page token was not made for this list") }
}
