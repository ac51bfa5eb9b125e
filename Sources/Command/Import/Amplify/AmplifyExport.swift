import MartletCommandLine
import MartletJSON

/// What an app leaves behind that was built with Amplify: the file of a device's DataStore, or a table of its back end
/// as DynamoDB exports it.
enum AmplifyExport {
  /// Fields that Amplify adds to records and that a model here has only if it declares them.
  static let ownFields: Set<String> = [
    "__typename", "_version", "_deleted", "_lastChangedAt", "_ttl", "createdAt", "updatedAt",
  ]

  /// Those of its synchronization, which no model declares: a versioned model's inputs have `_version`, too, and mean
  /// the version here.
  static let stamps: Set<String> = ["__typename", "_version", "_deleted", "_lastChangedAt", "_ttl"]

  /// The records of a model in a file.
  static func rows(of model: String, in path: String) throws(CommandFailure) -> any RowSource {
    let source = try ByteSource(path: path)
    switch try source.peek() {
    case UInt8(ascii: "S"): return try DataStoreFile(path, model: model)
    case 0x1F: throw CommandFailure(.badData, "\(path) is compressed: gunzip it first.")
    case _: return try DynamoExport(source)
    }
  }

  /// The values of the column `@@postForeignKey`, by which a device's file refers to a record with a composite key:
  /// each in quotes, joined by `#`.
  static func parts(ofReference text: String) -> [String] {
    guard text.hasPrefix("\""), text.hasSuffix("\""), text.count > 1 else { return [text] }
    var (parts, rest): ([String], Substring) = ([], text.dropFirst().dropLast())
    while let end = rest.firstRange(of: "\"#\"") {
      parts.append(String(rest[..<end.lowerBound]))
      rest = rest[end.upperBound...]
    }
    return parts + [String(rest)]
  }

  /// Whether a column is a reference by several values.
  static func isReference(_ column: String) -> Bool { column.hasPrefix("@@") && column.hasSuffix("ForeignKey") }

  /// A value as the model's field has it. DataStore keeps truth values as numbers and embedded values as text; AppSync
  /// keeps JSON as what it stands for, also within embedded values.
  ///
  /// - Parameter objects: the members of embedded values, by the names of their input objects.
  static func value(
    _ value: JSONValue, for type: InputType, in objects: [String: [ImportTarget.Field]] = [:]
  ) throws(ConversionError) -> JSONValue {
    switch (type, value) {
    case (.required(let inner), _): return try self.value(value, for: inner, in: objects)
    case (.list, .string(let text)), (.named(_, .inputObject), .string(let text)):
      return try self.value(try type.value(ofText: text), for: type, in: objects)
    case (.list(let element), .array(let elements)):
      var values: [JSONValue] = []
      for item in elements { values.append(try self.value(item, for: element, in: objects)) }
      return .array(values)
    case (.named("Boolean", .scalar), .int(0)): return false
    case (.named("Boolean", .scalar), .int(1)): return true
    // AppSync keeps a JSON text as the text alone; what is itself a JSON document was kept as one.
    case (.named("AWSJSON", .scalar), .string(let text)) where (try? JSONValue(parsing: Array(text.utf8))) != nil:
      return value
    case (.named("AWSJSON", .scalar), .null): return value
    case (.named("AWSJSON", .scalar), _): return .string(value.description)
    case (.named(let name, .inputObject), .object(let members)):
      let fields = objects[name] ?? []
      var values = JSONObject()
      for (key, member) in members where key != "__typename" {
        if let field = fields.first(where: { $0.name.utf8.elementsEqual(key.utf8) }) {
          values[key] = try self.value(member, for: field.type, in: objects)
        } else {
          values[key] = withoutTypeNames(member)
        }
      }
      return .object(values)
    case (.named("String", .scalar), .int), (.named("ID", .scalar), .int): return .string(value.description)
    case (_, _): return value
    }
  }

  /// An embedded value without the names of its type and of those in it, which no input has.
  private static func withoutTypeNames(_ value: JSONValue) -> JSONValue {
    switch value {
    case .array(let elements): return .array(elements.map(withoutTypeNames))
    case .object(let members):
      let kept = members.filter { $0.key != "__typename" }
      return .object(JSONObject(kept.map { (key: $0.key, value: withoutTypeNames($0.value)) }))
    default: return value
    }
  }
}
