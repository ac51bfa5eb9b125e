/// Reads any `Decodable` type from JSON values.
package struct JSONDecoding: Sendable {
  package var types = JSONTypeTable()
  /// Whether a type that asks for elements may have an object's values, in their order: a tree stores lists so.
  package var readsObjectsAsArrays = false

  package init(types: JSONTypeTable = JSONTypeTable(), readsObjectsAsArrays: Bool = false) {
    self.types = types
    self.readsObjectsAsArrays = readsObjectsAsArrays
  }

  /// Reads a value of `type`.
  ///
  /// - Throws: `DecodingError` with the path to what does not fit.
  package func decode<Value: Decodable>(_ type: Value.Type, from value: JSONValue) throws -> Value {
    try ValueDecoder(value: value, codingPath: [], types: types, readsObjectsAsArrays: readsObjectsAsArrays)
      .unbox(type)
  }
}

/// A place in a document that is being decoded.
private struct ValueDecoder: Decoder {
  let value: JSONValue
  let codingPath: [any CodingKey]
  let types: JSONTypeTable
  let readsObjectsAsArrays: Bool
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    guard case .object(let members) = value else { throw mismatch([String: JSONValue].self, "an object") }
    return KeyedDecodingContainer(KeyedContainer<Key>(members: members, decoder: self))
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    if readsObjectsAsArrays, case .object(let members) = value {
      return UnkeyedContainer(elements: members.map(\.value), decoder: self)
    }
    guard case .array(let elements) = value else { throw mismatch([JSONValue].self, "an array") }
    return UnkeyedContainer(elements: elements, decoder: self)
  }

  func singleValueContainer() -> any SingleValueDecodingContainer { SingleContainer(decoder: self) }

  func child(_ value: JSONValue, _ key: any CodingKey) -> ValueDecoder {
    ValueDecoder(
      value: value, codingPath: codingPath + [key], types: types, readsObjectsAsArrays: readsObjectsAsArrays)
  }

  func mismatch(_ type: Any.Type, _ expected: String) -> DecodingError {
    let context = DecodingError.Context(
      codingPath: codingPath, debugDescription: "Expected \(expected), found \(value.kindName).")
    return value.isNull ? .valueNotFound(type, context) : .typeMismatch(type, context)
  }

  func unbox<Value: Decodable>(_ type: Value.Type) throws -> Value {
    if let entry = types.entry(for: type) {
      do {
        if let decoded = try entry.decode(value) as? Value { return decoded }
      } catch let error as DecodingError {
        throw error
      } catch {
        throw DecodingError.dataCorrupted(
          DecodingError.Context(codingPath: codingPath, debugDescription: "\(error)", underlyingError: error))
      }
      throw mismatch(type, "\(type)")
    }
    if type == JSONValue.self, let same = value as? Value { return same }
    return try Value(from: self)
  }

  func bool() throws -> Bool {
    guard let flag = value.bool else { throw mismatch(Bool.self, "a truth value") }
    return flag
  }

  func string() throws -> String {
    guard let text = value.string else { throw mismatch(String.self, "text") }
    return text
  }

  func integer<Number: FixedWidthInteger>(_ type: Number.Type) throws -> Number {
    let number: Number? =
      switch value {
      case .int(let value): Number(exactly: value)
      case .uint(let value): Number(exactly: value)
      case .double(let value): Number(exactly: value)
      case .null, .bool, .string, .array, .object: throw mismatch(type, "a whole number")
      }
    guard let number else {
      throw DecodingError.dataCorrupted(
        DecodingError.Context(codingPath: codingPath, debugDescription: "\(value) does not fit \(type)."))
    }
    return number
  }

  func float<Number: BinaryFloatingPoint>(_ type: Number.Type) throws -> Number {
    guard let double = value.double else { throw mismatch(type, "a number") }
    let number = Number(double)
    guard number.isFinite || !double.isFinite else {
      throw DecodingError.dataCorrupted(
        DecodingError.Context(codingPath: codingPath, debugDescription: "\(value) does not fit \(type)."))
    }
    return number
  }
}

extension JSONValue {
  /// What a person calls this kind of value.
  var kindName: String {
    switch self {
    case .null: "null"
    case .bool: "a truth value"
    case .int, .uint, .double: "a number"
    case .string: "text"
    case .array: "an array"
    case .object: "an object"
    }
  }
}

private struct KeyedContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
  let members: JSONObject
  let decoder: ValueDecoder
  var codingPath: [any CodingKey] { decoder.codingPath }
  var allKeys: [Key] { members.compactMap { Key(stringValue: $0.key) } }

  func contains(_ key: Key) -> Bool { members[key.stringValue] != nil }

  private func child(_ key: any CodingKey) throws -> ValueDecoder {
    guard let value = members[key.stringValue] else {
      throw DecodingError.keyNotFound(
        key,
        DecodingError.Context(codingPath: codingPath, debugDescription: "There is no member \"\(key.stringValue)\"."))
    }
    return decoder.child(value, key)
  }

  func decodeNil(forKey key: Key) throws -> Bool { try child(key).value.isNull }
  func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try child(key).bool() }
  func decode(_ type: String.Type, forKey key: Key) throws -> String { try child(key).string() }
  func decode(_ type: Double.Type, forKey key: Key) throws -> Double { try child(key).float(type) }
  func decode(_ type: Float.Type, forKey key: Key) throws -> Float { try child(key).float(type) }
  func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try child(key).integer(type) }
  func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 { try child(key).integer(type) }
  func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 { try child(key).integer(type) }
  func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 { try child(key).integer(type) }
  func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 { try child(key).integer(type) }
  func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt { try child(key).integer(type) }
  func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 { try child(key).integer(type) }
  func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 { try child(key).integer(type) }
  func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 { try child(key).integer(type) }
  func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 { try child(key).integer(type) }
  func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T { try child(key).unbox(type) }

  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) throws -> KeyedDecodingContainer<Nested> {
    try child(key).container(keyedBy: type)
  }

  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
    try child(key).unkeyedContainer()
  }

  func superDecoder() throws -> any Decoder { decoder.child(members["super"] ?? .null, JSONKey.superKey) }
  func superDecoder(forKey key: Key) throws -> any Decoder { decoder.child(members[key.stringValue] ?? .null, key) }
}

private struct UnkeyedContainer: UnkeyedDecodingContainer {
  let elements: [JSONValue]
  let decoder: ValueDecoder
  var currentIndex = 0
  var codingPath: [any CodingKey] { decoder.codingPath }
  var count: Int? { elements.count }
  var isAtEnd: Bool { currentIndex >= elements.count }

  private mutating func next<Value>(_ type: Any.Type, _ read: (ValueDecoder) throws -> Value) throws -> Value {
    let value = try read(try peek(type))
    currentIndex += 1
    return value
  }

  private func peek(_ type: Any.Type) throws -> ValueDecoder {
    guard !isAtEnd else {
      throw DecodingError.valueNotFound(
        type,
        DecodingError.Context(
          codingPath: codingPath + [JSONKey(currentIndex)], debugDescription: "The array has no more elements."))
    }
    return decoder.child(elements[currentIndex], JSONKey(currentIndex))
  }

  mutating func decodeNil() throws -> Bool {
    guard try peek(JSONValue.self).value.isNull else { return false }
    currentIndex += 1
    return true
  }

  mutating func decode(_ type: Bool.Type) throws -> Bool { try next(type) { try $0.bool() } }
  mutating func decode(_ type: String.Type) throws -> String { try next(type) { try $0.string() } }
  mutating func decode(_ type: Double.Type) throws -> Double { try next(type) { try $0.float(type) } }
  mutating func decode(_ type: Float.Type) throws -> Float { try next(type) { try $0.float(type) } }
  mutating func decode(_ type: Int.Type) throws -> Int { try next(type) { try $0.integer(type) } }
  mutating func decode(_ type: Int8.Type) throws -> Int8 { try next(type) { try $0.integer(type) } }
  mutating func decode(_ type: Int16.Type) throws -> Int16 { try next(type) { try $0.integer(type) } }
  mutating func decode(_ type: Int32.Type) throws -> Int32 { try next(type) { try $0.integer(type) } }
  mutating func decode(_ type: Int64.Type) throws -> Int64 { try next(type) { try $0.integer(type) } }
  mutating func decode(_ type: UInt.Type) throws -> UInt { try next(type) { try $0.integer(type) } }
  mutating func decode(_ type: UInt8.Type) throws -> UInt8 { try next(type) { try $0.integer(type) } }
  mutating func decode(_ type: UInt16.Type) throws -> UInt16 { try next(type) { try $0.integer(type) } }
  mutating func decode(_ type: UInt32.Type) throws -> UInt32 { try next(type) { try $0.integer(type) } }
  mutating func decode(_ type: UInt64.Type) throws -> UInt64 { try next(type) { try $0.integer(type) } }
  mutating func decode<T: Decodable>(_ type: T.Type) throws -> T { try next(type) { try $0.unbox(type) } }

  mutating func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type
  ) throws -> KeyedDecodingContainer<Nested> {
    try next(type) { try $0.container(keyedBy: type) }
  }

  mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
    try next([JSONValue].self) { try $0.unkeyedContainer() }
  }

  mutating func superDecoder() throws -> any Decoder { try next(JSONValue.self) { $0 } }
}

private struct SingleContainer: SingleValueDecodingContainer {
  let decoder: ValueDecoder
  var codingPath: [any CodingKey] { decoder.codingPath }

  func decodeNil() -> Bool { decoder.value.isNull }
  func decode(_ type: Bool.Type) throws -> Bool { try decoder.bool() }
  func decode(_ type: String.Type) throws -> String { try decoder.string() }
  func decode(_ type: Double.Type) throws -> Double { try decoder.float(type) }
  func decode(_ type: Float.Type) throws -> Float { try decoder.float(type) }
  func decode(_ type: Int.Type) throws -> Int { try decoder.integer(type) }
  func decode(_ type: Int8.Type) throws -> Int8 { try decoder.integer(type) }
  func decode(_ type: Int16.Type) throws -> Int16 { try decoder.integer(type) }
  func decode(_ type: Int32.Type) throws -> Int32 { try decoder.integer(type) }
  func decode(_ type: Int64.Type) throws -> Int64 { try decoder.integer(type) }
  func decode(_ type: UInt.Type) throws -> UInt { try decoder.integer(type) }
  func decode(_ type: UInt8.Type) throws -> UInt8 { try decoder.integer(type) }
  func decode(_ type: UInt16.Type) throws -> UInt16 { try decoder.integer(type) }
  func decode(_ type: UInt32.Type) throws -> UInt32 { try decoder.integer(type) }
  func decode(_ type: UInt64.Type) throws -> UInt64 { try decoder.integer(type) }
  func decode<T: Decodable>(_ type: T.Type) throws -> T { try decoder.unbox(type) }
}
