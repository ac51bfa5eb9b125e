package import MartletJSON

/// JSON with a line for each member and two spaces for each level, for `print=pretty`.
enum PrettyJSON {
  static func text(of value: JSONValue) -> [UInt8] {
    var bytes: [UInt8] = []
    append(value, indent: [], to: &bytes)
    bytes.append(UInt8(ascii: "\n"))
    return bytes
  }

  private static func append(_ value: JSONValue, indent: [UInt8], to bytes: inout [UInt8]) {
    let inner = indent + [UInt8](repeating: UInt8(ascii: " "), count: 2)
    switch value {
    case .object(let members) where !members.isEmpty:
      var mark = UInt8(ascii: "{")
      for (key, value) in members {
        bytes += [mark, UInt8(ascii: "\n")] + inner
        bytes += JSONValue.string(key).serialized() + Array(": ".utf8)
        append(value, indent: inner, to: &bytes)
        mark = UInt8(ascii: ",")
      }
      bytes += [UInt8(ascii: "\n")] + indent + [UInt8(ascii: "}")]
    case .array(let elements) where !elements.isEmpty:
      var mark = UInt8(ascii: "[")
      for element in elements {
        bytes += [mark, UInt8(ascii: "\n")] + inner
        append(element, indent: inner, to: &bytes)
        mark = UInt8(ascii: ",")
      }
      bytes += [UInt8(ascii: "\n")] + indent + [UInt8(ascii: "]")]
    case .null, .bool, .int, .uint, .double, .string, .array, .object: bytes += value.serialized()
    }
  }
}

extension RESTQuery {
  /// The body of an answer.
  package func body(_ json: JSONValue) -> [UInt8] {
    printing == .pretty ? PrettyJSON.text(of: json) : json.serialized()
  }
}
