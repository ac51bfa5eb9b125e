internal import Foundation
public import MartletGraphQLClient

/// What identifies a record: the values of its key's fields, in the key's order.
///
///     try await store.query(Seat.self, byIdentifier: .identifier("A", 12))
public struct ModelIdentifier: Sendable, Hashable, ExpressibleByStringLiteral {
  /// The values, in the order of the model's `primaryKey`.
  public var values: [JSONValue]

  /// The identifier of a model whose key is one field.
  public init(_ id: String) { values = [.string(id)] }

  /// The identifier of a model whose key is one field.
  public init(stringLiteral id: String) { self.init(id) }

  /// A random identifier for a new record: the text of a UUID.
  public static func newID() -> String { UUID().uuidString.lowercased() }

  private init(values: [JSONValue]) { self.values = values }

  /// The identifier of a model whose key is several fields.
  public static func identifier<each Value: QueryOperand>(_ value: repeat each Value) -> ModelIdentifier {
    var values: [JSONValue] = []
    for value in repeat each value { values.append(value.queryValue) }
    return ModelIdentifier(values: values)
  }
}
