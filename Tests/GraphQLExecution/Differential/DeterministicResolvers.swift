import MartletGraphQLExecution
import MartletGraphQLLanguage
import MartletJSON

/// The resolvers of `Conformance/graphql-core/generate.py` once more: values from the parent type, the field, its
/// arguments and the path; a few of them wrong on purpose.
struct DeterministicResolvers: Sendable {
  let schema: Schema

  /// A resolver for every field of every object type.
  var resolvers: Resolvers {
    var result = Resolvers()
    for type in schema.types where type.kind == .object && !type.isIntrospection {
      for field in type.fields {
        result.compute(type.name, field.name) { request in try resolve(field, request) }
      }
    }
    return result
  }

  private func resolve(_ field: SchemaField, _ request: FieldRequest) throws -> ResolvedValue {
    let path = request.path.map { element in
      switch element {
      case .key(let name): name
      case .index(let index): String(index)
      }
    }.joined(separator: "/")
    let arguments = Self.canonical(.object(request.arguments))
    let seed = Self.hash("\(request.typeName).\(request.fieldName)(\(arguments))@\(path)")
    if seed % 29 == 7 { throw ResolverError("Failed at \(path)") }
    return make(field.type, seed, request.arguments)
  }

  private func make(_ type: WrappedType, _ seed: Int, _ arguments: JSONObject) -> ResolvedValue {
    if type.isNonNull {
      if seed % 41 == 3 { return .null }
      let first = make(type.nullable, seed, arguments)
      return Self.isTrue(first) ? first : make(type.nullable, seed + 1, arguments)
    }
    if seed % 17 == 5 { return .null }
    if let element = type.element {
      if seed % 59 == 11 { return .value(.int(5)) }
      return .list((0..<(seed % 3 + seed % 2)).map { make(element, Self.hash("\(seed):\($0)"), arguments) })
    }
    let named = schema[type.named]
    switch named.kind {
    case .enumeration:
      if seed % 37 == 2 { return .value("WRONG") }
      return .value(.string(named.enumValues[seed / 7 % named.enumValues.count].name))
    case .scalar: return .value(scalar(named.name, seed, arguments))
    case .interface, .union:
      switch seed / 5 % 61 {
      case 1: return .value([:], type: "Nowhere")
      case 2: return .value([:], type: "Query")
      case 3: return .value([:])
      default:
        let possible = named.possibleTypes.map { schema[$0].name }.sorted()
        return .value([:], type: possible[seed / 11 % possible.count])
      }
    case .object, .inputObject: return .value([:], type: named.name)
    }
  }

  private func scalar(_ name: String, _ seed: Int, _ arguments: JSONObject) -> JSONValue {
    let odd = seed / 3 % 31
    switch (name, odd) {
    case ("Int", 1): return 3_000_000_000
    case ("Int", 2): return "text"
    case ("Int", 3): return 2.5
    case ("Int", 4): return "12"
    case ("Int", 5): return true
    case ("Int", 6): return 4.0
    case ("Int", _): return .int(Int64(seed % 2001 - 1000))
    case ("Float", 1): return "text"
    case ("Float", 2): return 7
    case ("Float", 3): return false
    case ("Float", 4): return "2.5"
    case ("Float", _): return .double(Double(seed % 4001 - 2000) / 4)
    case ("String", 1): return [1]
    case ("String", 2): return 42
    case ("String", 3): return true
    case ("String", 4): return 1.5
    case ("String", _):
      if !arguments.isEmpty { return .string(Self.canonical(.object(arguments))) }
      let texts = ["plain", "with \"quotes\" and \\", "två ord", "line\nbreak\ttab", "", "emoji 🐦"]
      return .string(texts[seed % 6] + String(seed % 100))
    case ("Boolean", 1): return "true"
    case ("Boolean", 2): return 0
    case ("Boolean", 3): return 3
    case ("Boolean", _): return .bool(seed % 2 == 0)
    case ("ID", 1): return 17
    case ("ID", 2): return true
    case ("ID", 3): return [1]
    case ("ID", _): return .string("id\(seed % 1000)")
    default:
      return [["seed": .int(Int64(seed % 100)), "list": [1, nil, "x"]], "custom", 5, [true]][seed % 4]
    }
  }

  /// What Python calls true.
  private static func isTrue(_ value: ResolvedValue) -> Bool {
    guard let json = value.json else { return true }
    switch json {
    case .null: return false
    case .bool(let flag): return flag
    case .int(let number): return number != 0
    case .uint(let number): return number != 0
    case .double(let number): return number != 0
    case .string(let text): return !text.isEmpty
    case .array(let items): return !items.isEmpty
    case .object: return true
    }
  }

  static func hash(_ text: String) -> Int {
    var hash: UInt32 = 0x811C_9DC5
    for byte in text.utf8 { hash = (hash ^ UInt32(byte)) &* 0x0100_0193 }
    hash ^= hash >> 15
    hash = hash &* 0x2C1B_3C6D
    hash ^= hash >> 12
    return Int(hash)
  }

  static func canonical(_ value: JSONValue) -> String {
    switch value {
    case .double(let number): return Int64(exactly: number).map { String($0) } ?? value.description
    case .array(let items): return "[" + items.map { canonical($0) }.joined(separator: ",") + "]"
    case .object(let members):
      let sorted = members.sorted { $0.key < $1.key }
      return "{"
        + sorted.map { JSONValue.string($0.key).description + ":" + canonical($0.value) }.joined(separator: ",")
        + "}"
    case .null, .bool, .int, .uint, .string: return value.description
    }
  }
}
