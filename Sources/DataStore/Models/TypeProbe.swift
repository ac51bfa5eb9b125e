internal import Foundation
internal import MartletStore

/// Finds how a model's fields are stored: decodes the model from nothing and notes which types it asks for.
final class TypeProbe {
  /// By the field's name.
  var found: [String: ColumnStorage] = [:]
  /// The fields whose texts are dates or times.
  private(set) var moments: Set<String> = []
  /// The types of fields that are found in a store, by the field's name.
  var lazy: [String: any RelationValue.Type] = [:]
  /// What a single value asked for.
  var single: ColumnStorage?
  /// Whether members or elements were asked for.
  var isCompound = false
  /// The field that has no value; nil where all have one.
  private let absent: String?
  /// Whether that field was asked for a value all the same.
  private var isMissed = false

  init(absent: String? = nil) { self.absent = absent }

  /// Whether a model has no value without one in a field.
  static func needs<M: Decodable>(_ type: M.Type, _ field: String) -> Bool {
    let probe = TypeProbe(absent: field)
    do {
      _ = try M(from: ProbeDecoder(probe: probe, codingPath: []))
      return false
    } catch {
      return probe.isMissed
    }
  }

  /// Notes a field of a type of dates or times.
  func noteMoment<Value>(_ type: Value.Type, _ key: some CodingKey) {
    if type is any TemporalValue.Type || type == Date.self { moments.insert(key.stringValue) }
  }

  func has(_ key: some CodingKey) -> Bool { absent == nil || key.stringValue != absent }

  /// Fails for the field that has no value.
  func check(_ key: some CodingKey, _ codingPath: [any CodingKey]) throws {
    if has(key) { return }
    isMissed = true
    throw DecodingError.valueNotFound(Any.self, .init(codingPath: codingPath + [key], debugDescription: "no value"))
  }

  /// The storage of a type that is not one of JSON's own, from what it asks for when it is decoded.
  static func storage<Value: Decodable>(_ type: Value.Type, _ codingPath: [any CodingKey]) throws -> (
    ColumnStorage, Value
  ) {
    if let known = foundation(type) { return known }
    let sample = (type as? any CaseIterable.Type).flatMap { first($0) as? Value }
    if type is any RawRepresentable.Type, let sample { return (asked(type, codingPath), sample) }
    let probe = TypeProbe()
    let value = try Value(from: ProbeDecoder(probe: probe, codingPath: codingPath))
    return (probe.single ?? .json, value)
  }

  /// The storage of a type that refuses an empty value: an enumeration's raw value, or JSON for one that has members.
  /// Text for a type that asks for nothing.
  static func asked<Value: Decodable>(_ type: Value.Type, _ codingPath: [any CodingKey]) -> ColumnStorage {
    let probe = TypeProbe()
    do { _ = try Value(from: ProbeDecoder(probe: probe, codingPath: codingPath)) } catch {
      // What it has asked for before is what counts.
    }
    return probe.single ?? (probe.isCompound ? .json : .text)
  }

  /// Types that refuse an empty value: dates, and Foundation's, which are text in JSON whatever their own code says. A
  /// decimal is a number or text.
  private static func foundation<Value>(_ type: Value.Type) -> (ColumnStorage, Value)? {
    let texts: [Any?] = [
      Temporal.DateTime(millisecondsSince1970: 0), Temporal.Date(year: 1970, month: 1, day: 1),
      try? Temporal.Time(iso8601: "00:00"), Date(timeIntervalSince1970: 0), URL(fileURLWithPath: "/"), Data(), UUID(),
    ]
    for case let sample? in texts where Swift.type(of: sample) == Value.self {
      if let value = sample as? Value { return (.text, value) }
    }
    if let value = Decimal(0) as? Value { return (.json, value) }
    return nil
  }

  private static func first<Cases: CaseIterable>(_ type: Cases.Type) -> Any? { type.allCases.first }
}

/// Gives empty values to everything that is asked for.
struct ProbeDecoder: Decoder {
  let probe: TypeProbe
  let codingPath: [any CodingKey]
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
    probe.isCompound = true
    return KeyedDecodingContainer(ProbeFields<Key>(probe: probe, codingPath: codingPath))
  }

  func unkeyedContainer() -> any UnkeyedDecodingContainer {
    probe.isCompound = true
    return ProbeElements(codingPath: codingPath)
  }
  func singleValueContainer() -> any SingleValueDecodingContainer { ProbeValue(probe: probe, codingPath: codingPath) }
}

private struct ProbeFields<Key: CodingKey>: KeyedDecodingContainerProtocol {
  let probe: TypeProbe
  let codingPath: [any CodingKey]
  var allKeys: [Key] { [] }

  func contains(_ key: Key) -> Bool { probe.has(key) }
  func decodeNil(forKey key: Key) -> Bool { !probe.has(key) }

  private func note<Value>(_ key: Key, _ storage: ColumnStorage, _ value: Value) throws -> Value {
    try probe.check(key, codingPath)
    return note(key, as: storage, value)
  }

  private func note<Value>(_ key: Key, as storage: ColumnStorage, _ value: Value) -> Value {
    probe.found[key.stringValue] = storage
    return value
  }

  func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try note(key, .boolean, false) }
  func decode(_ type: String.Type, forKey key: Key) throws -> String { try note(key, .text, "") }
  func decode(_ type: Double.Type, forKey key: Key) throws -> Double { try note(key, .real, 0) }
  func decode(_ type: Float.Type, forKey key: Key) throws -> Float { try note(key, .real, 0) }
  func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try note(key, .integer, 0) }
  func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 { try note(key, .integer, 0) }
  func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 { try note(key, .integer, 0) }
  func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 { try note(key, .integer, 0) }
  func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 { try note(key, .integer, 0) }
  func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt { try note(key, .integer, 0) }
  func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 { try note(key, .integer, 0) }
  func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 { try note(key, .integer, 0) }
  func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 { try note(key, .integer, 0) }
  func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 { try note(key, .integer, 0) }

  func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
    if let relation = type as? any RelationValue.Type, let none = Self.none(relation) as? Value {
      probe.lazy[key.stringValue] = relation
      return none
    }
    probe.noteMoment(type, key)
    try probe.check(key, codingPath)
    let (storage, value) = try TypeProbe.storage(type, codingPath + [key])
    return note(key, as: storage, value)
  }

  func decodeIfPresent<Value: Decodable>(_ type: Value.Type, forKey key: Key) -> Value? {
    if let relation = type as? any RelationValue.Type {
      probe.lazy[key.stringValue] = relation
      return nil
    }
    probe.noteMoment(type, key)
    let path = codingPath + [key]
    return note(key, as: (try? TypeProbe.storage(type, path))?.0 ?? TypeProbe.asked(type, path), nil)
  }

  private static func none<Value: RelationValue>(_ type: Value.Type) -> any RelationValue { Value.none }

  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) throws -> KeyedDecodingContainer<Nested> {
    let fields = ProbeFields<Nested>(probe: TypeProbe(), codingPath: codingPath + [key])
    return try note(key, .json, KeyedDecodingContainer(fields))
  }

  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
    try note(key, .json, ProbeElements(codingPath: codingPath + [key]))
  }

  func superDecoder() -> any Decoder { ProbeDecoder(probe: TypeProbe(), codingPath: codingPath) }
  func superDecoder(forKey key: Key) -> any Decoder { ProbeDecoder(probe: TypeProbe(), codingPath: codingPath + [key]) }
}

/// A list without elements.
private struct ProbeElements: UnkeyedDecodingContainer {
  let codingPath: [any CodingKey]
  var count: Int? { 0 }
  var isAtEnd: Bool { true }
  var currentIndex: Int { 0 }

  private var end: DecodingError {
    .valueNotFound(Any.self, .init(codingPath: codingPath, debugDescription: "an empty list has no elements"))
  }

  func decodeNil() throws -> Bool { throw end }
  func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { throw end }
  func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) throws -> KeyedDecodingContainer<Nested> {
    throw end
  }
  func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer { throw end }
  func superDecoder() throws -> any Decoder { throw end }
}

private struct ProbeValue: SingleValueDecodingContainer {
  let probe: TypeProbe
  let codingPath: [any CodingKey]

  private func note<Value>(_ storage: ColumnStorage, _ value: Value) -> Value {
    probe.single = storage
    return value
  }

  func decodeNil() -> Bool { false }
  func decode(_ type: Bool.Type) -> Bool { note(.boolean, false) }
  func decode(_ type: String.Type) -> String { note(.text, "") }
  func decode(_ type: Double.Type) -> Double { note(.real, 0) }
  func decode(_ type: Float.Type) -> Float { note(.real, 0) }
  func decode(_ type: Int.Type) -> Int { note(.integer, 0) }
  func decode(_ type: Int8.Type) -> Int8 { note(.integer, 0) }
  func decode(_ type: Int16.Type) -> Int16 { note(.integer, 0) }
  func decode(_ type: Int32.Type) -> Int32 { note(.integer, 0) }
  func decode(_ type: Int64.Type) -> Int64 { note(.integer, 0) }
  func decode(_ type: UInt.Type) -> UInt { note(.integer, 0) }
  func decode(_ type: UInt8.Type) -> UInt8 { note(.integer, 0) }
  func decode(_ type: UInt16.Type) -> UInt16 { note(.integer, 0) }
  func decode(_ type: UInt32.Type) -> UInt32 { note(.integer, 0) }
  func decode(_ type: UInt64.Type) -> UInt64 { note(.integer, 0) }

  func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    let (storage, value) = try TypeProbe.storage(type, codingPath)
    return note(storage, value)
  }
}
