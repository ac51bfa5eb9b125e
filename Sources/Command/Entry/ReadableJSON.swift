import MartletJSON

/// JSON for people.
enum ReadableJSON {
  /// Indented by two spaces; empty lists and objects stay on their line.
  static func pretty(_ value: JSONValue, indent: String = "") -> String {
    let inner = indent + "  "
    switch value {
    case .array(let elements) where !elements.isEmpty:
      let lines = elements.map { inner + pretty($0, indent: inner) }
      return "[\n" + lines.joined(separator: ",\n") + "\n\(indent)]"
    case .object(let members) where !members.isEmpty:
      let lines = members.map { inner + JSONValue.string($0.key).description + ": " + pretty($0.value, indent: inner) }
      return "{\n" + lines.joined(separator: ",\n") + "\n\(indent)}"
    case .null, .bool, .int, .uint, .double, .string, .array, .object: return value.description
    }
  }
}
