internal import MartletGraphQLDocuments
internal import MartletJSON

/// The canonical text of a field's arguments: names in byte order, variables replaced, numbers in one form.
///
/// Enum values are written as text, which is what variables carry. An absent variable leaves its argument out.
enum ArgumentText {
  static func field(_ field: Field, variables: JSONObject) -> String {
    if field.arguments.isEmpty { return field.name.text }
    var members: [JSONObject.Element] = []
    for argument in field.arguments {
      if let value = value(argument.value, variables) { members.append((argument.name.text, value)) }
    }
    if members.isEmpty { return field.name.text }
    let text = JSONValue.object(canonical(JSONObject(members))).serialized()
    return field.name.text + "(" + String(decoding: text, as: UTF8.self) + ")"
  }

  /// The value a document's value stands for; nil for a variable that is absent.
  static func value(_ value: Value, _ variables: JSONObject) -> JSONValue? {
    switch value.kind {
    case .variable(let name): return variables[name].map(canonical)
    case .int(let text), .float(let text):
      return canonical((try? JSONValue(parsing: text)) ?? .string(text))
    case .string(let string): return .string(string.text)
    case .boolean(let flag): return .bool(flag)
    case .null: return .null
    case .enumeration(let name): return .string(name)
    case .list(let values): return .array(values.map { self.value($0, variables) ?? .null })
    case .object(let fields):
      var object = JSONObject()
      for field in fields {
        if let value = self.value(field.value, variables) { object[field.name.text] = value }
      }
      return .object(canonical(object))
    }
  }

  static func canonical(_ value: JSONValue) -> JSONValue {
    switch value {
    case .null, .bool, .int, .uint, .string: value
    // A variable of type Float may come as 1.0 and the document's literal as 1.
    case .double(let number): Int64(exactly: number).map { .int($0) } ?? value
    case .array(let values): .array(values.map(canonical))
    case .object(let object): .object(canonical(object))
    }
  }

  private static func canonical(_ object: JSONObject) -> JSONObject {
    JSONObject(
      object.map { (key: $0.key, value: canonical($0.value)) }.sorted {
        $0.key.utf8.lexicographicallyPrecedes($1.key.utf8)
      })
  }
}
