internal import MartletGraphQLStore
internal import MartletJSON

/// Records as JSON. Leaves stand as they are; what is not a plain leaf is an object with one member that says what it
/// is: `r` a reference, `o` an object, `l` a list, `v` a leaf that is an object or array itself.
struct RecordCoding {
  /// One object per field name, so that records share them; a bound, since arguments make names without end.
  private var fields: [String: CacheField] = [:]
  private static let fieldLimit = 10_000
  private static let limits: JSONLimits = {
    var limits = JSONLimits()
    limits.depth = JSONLimits.deepest
    limits.bytes = Int(UInt32.max) - 1
    return limits
  }()

  static func encode(_ record: CacheRecord) -> [UInt8] {
    var writer = JSONWriter()
    write(record, to: &writer)
    return writer.bytes
  }

  private static func write(_ record: CacheRecord, to writer: inout JSONWriter) {
    writer.beginObject()
    for (field, value) in record {
      writer.key(field.text)
      write(value, to: &writer)
    }
    writer.endObject()
  }

  private static func write(_ value: CacheValue, to writer: inout JSONWriter) {
    switch value {
    case .leaf(let json):
      switch json {
      case .null, .bool, .int, .uint, .double, .string: writer.value(json)
      case .array, .object: tagged("v", &writer) { $0.value(json) }
      }
    case .reference(let key): tagged("r", &writer) { $0.string(key.text) }
    case .object(let record): tagged("o", &writer) { write(record, to: &$0) }
    case .list(let values):
      tagged("l", &writer) { writer in
        writer.beginArray()
        for value in values { write(value, to: &writer) }
        writer.endArray()
      }
    }
  }

  private static func tagged(_ tag: String, _ writer: inout JSONWriter, _ body: (inout JSONWriter) -> Void) {
    writer.beginObject()
    writer.key(tag)
    body(&writer)
    writer.endObject()
  }

  /// The record, or nil when the bytes are none of ours.
  mutating func decode(_ bytes: [UInt8]) -> CacheRecord? {
    guard let value = try? JSONValue(parsing: bytes, limits: Self.limits), let object = value.object else { return nil }
    return record(object)
  }

  private mutating func record(_ object: JSONObject) -> CacheRecord? {
    var record = CacheRecord()
    for (name, json) in object {
      guard let value = value(json) else { return nil }
      record[field(name)] = value
    }
    return record
  }

  private mutating func value(_ json: JSONValue) -> CacheValue? {
    switch json {
    case .null, .bool, .int, .uint, .double, .string: return .leaf(json)
    case .array: return nil
    case .object(let object):
      guard let (tag, inner) = object.first, object.count == 1 else { return nil }
      switch (tag, inner) {
      case ("v", _): return .leaf(inner)
      case ("r", .string(let text)): return .reference(CacheKey(text))
      case ("o", .object(let object)): return record(object).map { .object($0) }
      case ("l", .array(let elements)):
        var values: [CacheValue] = []
        for element in elements {
          guard let value = value(element) else { return nil }
          values.append(value)
        }
        return .list(values)
      default: return nil
      }
    }
  }

  private mutating func field(_ name: String) -> CacheField {
    if let known = fields[name], known.text.hasSameBytes(as: name) { return known }
    let made = CacheField(name)
    if fields.count >= Self.fieldLimit { fields.removeAll() }
    fields[name] = made
    return made
  }
}
