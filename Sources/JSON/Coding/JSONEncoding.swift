/// Turns any `Encodable` value into a JSON value.
package struct JSONEncoding: Sendable {
  package var types = JSONTypeTable()

  package init(types: JSONTypeTable = JSONTypeTable()) {
    self.types = types
  }

  /// The JSON value of `value`.
  ///
  /// - Throws: `EncodingError` for a number that JSON cannot say, with its path.
  package func encode(_ value: some Encodable) throws -> JSONValue {
    try EncodingNode(codingPath: [], types: types).box(value)
  }
}

/// A place in a document that is being written. A reference, because nested containers write after they were handed
/// out.
private final class EncodingNode: Encoder {
  enum Content {
    case nothing
    case value(JSONValue)
    case object([(key: String, node: EncodingNode)])
    case array([EncodingNode])
  }

  let codingPath: [any CodingKey]
  let types: JSONTypeTable
  var content = Content.nothing
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  init(codingPath: [any CodingKey], types: JSONTypeTable) {
    self.codingPath = codingPath
    self.types = types
  }

  /// What has been written; an object without members where nothing was.
  var value: JSONValue {
    switch content {
    case .nothing: .object(JSONObject())
    case .value(let value): value
    case .object(let members): .object(JSONObject(members.map { (key: $0.key, value: $0.node.value) }))
    case .array(let nodes): .array(nodes.map(\.value))
    }
  }

  func box(_ value: some Encodable) throws -> JSONValue {
    if let entry = types.entry(for: type(of: value)) { return try entry.encode(value) }
    if let json = value as? JSONValue { return json }
    try value.encode(to: self)
    return self.value
  }

  func child(_ key: any CodingKey) -> EncodingNode { EncodingNode(codingPath: codingPath + [key], types: types) }

  func member(_ key: any CodingKey) -> EncodingNode {
    let node = child(key)
    var members: [(key: String, node: EncodingNode)] = []
    if case .object(let known) = content { members = known }
    content = .nothing
    members.append((key.stringValue, node))
    content = .object(members)
    return node
  }

  func element() -> EncodingNode {
    var nodes: [EncodingNode] = []
    if case .array(let known) = content { nodes = known }
    content = .nothing
    let node = child(JSONKey(nodes.count))
    nodes.append(node)
    content = .array(nodes)
    return node
  }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    if case .nothing = content { content = .object([]) }
    return KeyedEncodingContainer(KeyedWriter<Key>(node: self))
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer {
    if case .nothing = content { content = .array([]) }
    return UnkeyedWriter(node: self)
  }

  func singleValueContainer() -> any SingleValueEncodingContainer { SingleWriter(node: self) }

  func set(_ value: JSONValue) { content = .value(value) }

  func set(_ value: some Encodable) throws { content = .value(try box(value)) }

  /// Keeps the shortest text of a `Float`: 0.1 stays 0.1 and does not become 0.10000000149011612.
  func set(float value: Float) throws {
    let shortest = Double(value.description) ?? Double(value)
    try set(float: Float(shortest) == value ? shortest : Double(value))
  }

  func set(float value: Double) throws {
    guard value.isFinite else {
      throw EncodingError.invalidValue(
        value, EncodingError.Context(codingPath: codingPath, debugDescription: "JSON cannot say \(value)."))
    }
    content = .value(.double(value))
  }

  func set(integer value: some FixedWidthInteger) {
    content = .value(Int64(exactly: value).map { .int($0) } ?? .uint(UInt64(truncatingIfNeeded: value)))
  }
}

private struct KeyedWriter<Key: CodingKey>: KeyedEncodingContainerProtocol {
  let node: EncodingNode
  var codingPath: [any CodingKey] { node.codingPath }

  func encodeNil(forKey key: Key) throws { node.member(key).set(.null) }
  func encode(_ value: Bool, forKey key: Key) throws { node.member(key).set(.bool(value)) }
  func encode(_ value: String, forKey key: Key) throws { node.member(key).set(.string(value)) }
  func encode(_ value: Double, forKey key: Key) throws { try node.member(key).set(float: value) }
  func encode(_ value: Float, forKey key: Key) throws { try node.member(key).set(float: value) }
  func encode(_ value: Int, forKey key: Key) throws { node.member(key).set(integer: value) }
  func encode(_ value: Int8, forKey key: Key) throws { node.member(key).set(integer: value) }
  func encode(_ value: Int16, forKey key: Key) throws { node.member(key).set(integer: value) }
  func encode(_ value: Int32, forKey key: Key) throws { node.member(key).set(integer: value) }
  func encode(_ value: Int64, forKey key: Key) throws { node.member(key).set(integer: value) }
  func encode(_ value: UInt, forKey key: Key) throws { node.member(key).set(integer: value) }
  func encode(_ value: UInt8, forKey key: Key) throws { node.member(key).set(integer: value) }
  func encode(_ value: UInt16, forKey key: Key) throws { node.member(key).set(integer: value) }
  func encode(_ value: UInt32, forKey key: Key) throws { node.member(key).set(integer: value) }
  func encode(_ value: UInt64, forKey key: Key) throws { node.member(key).set(integer: value) }
  func encode<T: Encodable>(_ value: T, forKey key: Key) throws { try node.member(key).set(value) }

  func nestedContainer<Nested: CodingKey>(
    keyedBy keyType: Nested.Type, forKey key: Key
  ) -> KeyedEncodingContainer<Nested> {
    node.member(key).container(keyedBy: keyType)
  }

  func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer { node.member(key).unkeyedContainer() }
  func superEncoder() -> any Encoder { node.member(JSONKey.superKey) }
  func superEncoder(forKey key: Key) -> any Encoder { node.member(key) }
}

private struct UnkeyedWriter: UnkeyedEncodingContainer {
  let node: EncodingNode
  var codingPath: [any CodingKey] { node.codingPath }
  var count: Int {
    if case .array(let nodes) = node.content { nodes.count } else { 0 }
  }

  func encodeNil() throws { node.element().set(.null) }
  func encode(_ value: Bool) throws { node.element().set(.bool(value)) }
  func encode(_ value: String) throws { node.element().set(.string(value)) }
  func encode(_ value: Double) throws { try node.element().set(float: value) }
  func encode(_ value: Float) throws { try node.element().set(float: value) }
  func encode(_ value: Int) throws { node.element().set(integer: value) }
  func encode(_ value: Int8) throws { node.element().set(integer: value) }
  func encode(_ value: Int16) throws { node.element().set(integer: value) }
  func encode(_ value: Int32) throws { node.element().set(integer: value) }
  func encode(_ value: Int64) throws { node.element().set(integer: value) }
  func encode(_ value: UInt) throws { node.element().set(integer: value) }
  func encode(_ value: UInt8) throws { node.element().set(integer: value) }
  func encode(_ value: UInt16) throws { node.element().set(integer: value) }
  func encode(_ value: UInt32) throws { node.element().set(integer: value) }
  func encode(_ value: UInt64) throws { node.element().set(integer: value) }
  func encode<T: Encodable>(_ value: T) throws { try node.element().set(value) }

  func nestedContainer<Nested: CodingKey>(keyedBy keyType: Nested.Type) -> KeyedEncodingContainer<Nested> {
    node.element().container(keyedBy: keyType)
  }

  func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { node.element().unkeyedContainer() }
  func superEncoder() -> any Encoder { node.element() }
}

private struct SingleWriter: SingleValueEncodingContainer {
  let node: EncodingNode
  var codingPath: [any CodingKey] { node.codingPath }

  func encodeNil() throws { node.set(.null) }
  func encode(_ value: Bool) throws { node.set(.bool(value)) }
  func encode(_ value: String) throws { node.set(.string(value)) }
  func encode(_ value: Double) throws { try node.set(float: value) }
  func encode(_ value: Float) throws { try node.set(float: value) }
  func encode(_ value: Int) throws { node.set(integer: value) }
  func encode(_ value: Int8) throws { node.set(integer: value) }
  func encode(_ value: Int16) throws { node.set(integer: value) }
  func encode(_ value: Int32) throws { node.set(integer: value) }
  func encode(_ value: Int64) throws { node.set(integer: value) }
  func encode(_ value: UInt) throws { node.set(integer: value) }
  func encode(_ value: UInt8) throws { node.set(integer: value) }
  func encode(_ value: UInt16) throws { node.set(integer: value) }
  func encode(_ value: UInt32) throws { node.set(integer: value) }
  func encode(_ value: UInt64) throws { node.set(integer: value) }
  func encode<T: Encodable>(_ value: T) throws { try node.set(value) }
}
