internal import MartletJSON
internal import MartletJSONTree
internal import MartletModels

/// The keys under which records stand in the tree.
///
/// A record's key is its primary key as text. Bytes that keys of the tree may not have, and `%`, are written as `%` and
/// two hexadecimal digits. The values of a key of several fields have `,` between them, which is written as `%2C`
/// inside of them; an empty text is `%` alone.
enum RecordKeyText {
  static func key(_ values: [JSONValue]) -> TreeKey {
    TreeKey(unchecked: values.map { text($0) }.joined(separator: ","))
  }

  private static func text(_ value: JSONValue) -> String {
    let plain = value.string ?? String(decoding: value.serialized(), as: UTF8.self)
    return plain.isEmpty ? "%" : escaped(plain, isForbidden: isForbidden)
  }

  private static func isForbidden(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: "%") || byte == UInt8(ascii: ",") || (try? TreeKey(String(UnicodeScalar(byte)))) == nil
  }

  /// A name inside a record's value, such as one of a JSON field, as a key.
  static func name(_ name: String) -> TreeKey {
    TreeKey(unchecked: name.isEmpty ? "%" : escaped(name) { $0 < 0x80 && $0 != UInt8(ascii: ",") && isForbidden($0) })
  }

  private static func escaped(_ text: String, isForbidden: (UInt8) -> Bool) -> String {
    guard text.utf8.contains(where: { $0 < 0x80 && isForbidden($0) }) else { return text }
    var bytes: [UInt8] = []
    for byte in text.utf8 {
      guard byte < 0x80, isForbidden(byte) else {
        bytes.append(byte)
        continue
      }
      let digits = Array("0123456789ABCDEF".utf8)
      bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// The primary key that `key` stands for; nil when it can be none of the model's.
  static func values(_ key: TreeKey, of model: ModelDefinition) -> [JSONValue]? {
    let parts = key.text.split(separator: ",", omittingEmptySubsequences: false)
    guard parts.count == model.primaryKey.count else { return nil }
    var values: [JSONValue] = []
    for (part, field) in zip(parts, model.primaryKey) {
      guard let text = part == "%" ? "" : try? PercentCoding.decode(String(part)),
        let value = value(text, of: model.fields[field])
      else { return nil }
      values.append(value)
    }
    return self.key(values) == key ? values : nil
  }

  private static func value(_ text: String, of field: ModelField) -> JSONValue? {
    guard case .scalar(let kind) = field.kind else { return .string(text) }
    switch kind {
    case .int, .awsTimestamp, .float, .boolean:
      guard let value = try? JSONValue(parsing: Array(text.utf8)), kind.accepts(value) else { return nil }
      return value
    case .id, .string, .awsDate, .awsTime, .awsDateTime, .awsEmail, .awsJSON, .awsURL, .awsPhone, .awsIPAddress:
      return .string(text)
    }
  }
}
