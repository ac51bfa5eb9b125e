public import Foundation
public import MartletJSON
internal import MartletJSONTree

/// A value of the tree, and whether the server has accepted it.
///
/// Nothing becomes an array unless it is asked for: a type that decodes elements gets the children's values in key
/// order.
public struct DatasyncValue: Sendable {
  let node: TreeNode
  /// Whether no write of this client that the server has not answered is part of it.
  public let isAcknowledged: Bool

  init(_ node: TreeNode, isAcknowledged: Bool) {
    self.node = node
    self.isAcknowledged = isAcknowledged
  }

  /// Whether the node does not exist.
  public var isNull: Bool { node.isEmpty }
  /// The value as JSON: null, a leaf or an object.
  public var json: JSONValue { node.json() }
  /// The JSON text; nil for null.
  public var data: Data? { isNull ? nil : Data(json.serialized()) }
  /// The text; nil for anything else.
  public var asString: String? {
    if case .string(let text)? = node.scalar { text } else { nil }
  }
  /// The boolean; nil for anything else.
  public var asBool: Bool? {
    if case .bool(let value)? = node.scalar { value } else { nil }
  }
  /// The boolean, or `value` for anything else.
  public func asBool(default value: Bool) -> Bool { asBool ?? value }
  /// The integer; nil for anything else and for numbers that are none.
  public var asInt: Int? {
    if case .int(let value)? = node.scalar { Int(exactly: value) } else { nil }
  }
  /// The number; nil for anything else.
  public var asDouble: Double? { node.scalar?.number }
  /// The children by key; nil for a leaf, empty for null.
  public func asDictionary() -> [String: DatasyncValue]? {
    if node.isLeaf { return nil }
    var found: [String: DatasyncValue] = [:]
    for (key, child) in node.children.entries {
      found[key.text] = DatasyncValue(child, isAcknowledged: isAcknowledged)
    }
    return found
  }
  /// The children's values in key order; nil for a leaf, empty for null.
  public func asArray() -> [DatasyncValue]? {
    node.childrenAsArray()?.map { DatasyncValue($0, isAcknowledged: isAcknowledged) }
  }
  /// The keys of the children, in their order.
  public var keys: [String] { node.children.keys.map(\.text) }
  /// The child named `key`, null when there is none.
  public subscript(key: String) -> DatasyncValue {
    DatasyncValue(node.child(TreeKey(unchecked: key)), isAcknowledged: isAcknowledged)
  }

  /// The value as the type that the context asks for; nil when it does not fit, and for null.
  public func decoded<Value: Decodable>() -> Value? { try? decodedThrows(as: Value.self) }
  /// The value as `type`; nil when it does not fit, and for null.
  public func decoded<Value: Decodable>(as type: Value.Type) -> Value? { try? decodedThrows(as: type) }
  /// The value as the type that the context asks for.
  /// - Throws: `DecodingError` with the path to what does not fit.
  public func decodedThrows<Value: Decodable>() throws -> Value { try decodedThrows(as: Value.self) }
  /// The value as `type`.
  /// - Throws: `DecodingError` with the path to what does not fit.
  public func decodedThrows<Value: Decodable>(as type: Value.Type) throws -> Value {
    try JSONDecoding(types: .foundation, readsObjectsAsArrays: true).decode(type, from: json)
  }
}

/// What the server puts in place of a value when it makes the write.
///
/// ```swift
/// try node.merge(["seenAt": DatasyncServerValue.timestamp, "visits": .increment(1)])
/// ```
public enum DatasyncServerValue: Hashable, Sendable, Encodable {
  /// Milliseconds since 1970, by the server's clock.
  case timestamp
  /// The present number and this one; this one alone where there is no number.
  case increment(Double)

  /// Writes the protocol's form.
  public func encode(to encoder: any Encoder) throws {
    try json.encode(to: encoder)
  }

  var json: JSONValue {
    switch self {
    case .timestamp: [".sv": "timestamp"]
    case .increment(let step): [".sv": ["increment": Int64(exactly: step).map { .int($0) } ?? .double(step)]]
    }
  }
}

extension DatasyncValue: CustomStringConvertible {
  /// The value as JSON text.
  public var description: String { json.description }
}
