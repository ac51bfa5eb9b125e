internal import MartletJSON
internal import MartletModels

/// Where a page ended: the last record's values in the order's fields. Opaque to clients, hexadecimal on the wire.
struct PageToken {
  private static let format: UInt8 = 2

  /// What the token is for: a model, the order, and values that the list's records share.
  struct Scope: Equatable {
    /// The folder's number of the model and of the order's fields, with their direction.
    var numbers: [Int]
    /// A digest of the shared values: a token of one parent's children is not one of another's.
    var shared: UInt64

    init(_ shape: RecordShape, _ order: [SortOrder], equal: [(field: Int, value: JSONValue)]) {
      numbers =
        [shape.storedNumber] + order.map { shape.columns[$0.field].storedNumber * 2 + ($0.isAscending ? 0 : 1) }
      var writer = EntryWriter()
      for (field, value) in equal.sorted(by: { $0.field < $1.field }) {
        writer.count(shape.columns[field].storedNumber)
        writer.value(shape.columns[field].storage.normalized(value))
      }
      var digest = RunningChecksum.empty
      digest.add(writer.bytes, offset: 0, head: 0, time: 0)
      shared = digest.value
    }
  }

  private let scope: Scope
  let values: [JSONValue]

  init(_ scope: Scope, values: [JSONValue]) {
    self.scope = scope
    self.values = values
  }

  var text: String {
    var writer = EntryWriter()
    writer.byte(Self.format)
    writer.count(scope.numbers.count)
    for number in scope.numbers { writer.count(number) }
    writer.fixed(scope.shared)
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

  /// Reads a token with values for each of `order`.
  ///
  /// - Throws: `invalidToken` for one that was not made for `scope`.
  init(_ text: String, for scope: Scope, _ order: [SortOrder]) throws(StoreError) {
    var reader = EntryReader(try Self.bytes(text))
    var values: [JSONValue] = []
    do {
      guard try reader.byte() == Self.format, try reader.count() == scope.numbers.count else { throw Self.foreign }
      for number in scope.numbers { guard try reader.number() == number else { throw Self.foreign } }
      guard try reader.fixed() == scope.shared else { throw Self.foreign }
      for _ in order { values.append(try reader.value()) }
    } catch {
      throw Self.foreign
    }
    self.scope = scope
    self.values = values
  }

  private static func bytes(_ text: String) throws(StoreError) -> [UInt8] {
    guard text.utf8.count.isMultiple(of: 2) else { throw foreign }
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
