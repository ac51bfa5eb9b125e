/// How types that mean something else in JSON than their own `Codable` code says are read and written.
///
/// Foundation's Date, Data, URL and Decimal are such types; this module does not import Foundation, so the module that
/// does registers them here.
package struct JSONTypeTable: Sendable {
  struct Entry: Sendable {
    let decode: @Sendable (JSONValue) throws -> any Sendable
    let encode: @Sendable (Any) throws -> JSONValue
  }

  private(set) var entries: [ObjectIdentifier: Entry] = [:]

  package init() {}

  /// Registers a type.
  package mutating func register<Value: Sendable>(
    _ type: Value.Type, decode: @escaping @Sendable (JSONValue) throws -> Value,
    encode: @escaping @Sendable (Value) throws -> JSONValue
  ) {
    entries[ObjectIdentifier(type)] = Entry(decode: decode) { any in
      guard let value = any as? Value else { return .null }
      return try encode(value)
    }
  }

  func entry(for type: Any.Type) -> Entry? { entries[ObjectIdentifier(type)] }
}

/// A key of any coding container.
struct JSONKey: CodingKey {
  let stringValue: String
  let intValue: Int?

  init(_ text: String) {
    stringValue = text
    intValue = nil
  }

  init(_ index: Int) {
    stringValue = "\(index)"
    intValue = index
  }

  init?(stringValue: String) { self.init(stringValue) }
  init?(intValue: Int) { self.init(intValue) }

  static let superKey = JSONKey("super")
}
