/// Filling in the defaults of input fields comes to an end (section 3.10, InputObjectDefaultValueHasCycle).
struct DefaultCycles {
  private let schema: Schema
  private var visited: Set<ObjectIdentifier> = []
  private var path: [(name: String, field: SchemaInput)] = []

  static func check(_ schema: Schema, _ report: inout TypeSystemReport) {
    var cycles = DefaultCycles(schema: schema)
    for type in schema.types where type.kind == .inputObject {
      for field in type.inputFields { cycles.search(field, of: type, &report) }
    }
  }

  private init(schema: Schema) {
    self.schema = schema
  }

  private mutating func search(_ field: SchemaInput, of type: NamedType, _ report: inout TypeSystemReport) {
    guard let value = field.defaultValue else { return }
    if let position = path.firstIndex(where: { $0.field === field }) {
      let cycle = path[position...]
      let via = cycle.dropFirst().map(\.name).joined(separator: ", ")
      report.add(
        .defaultValues,
        "Invalid circular reference. The default value of Input Object field \(type.name).\(field.name) references itself"
          + (via.isEmpty ? "." : " via the default values of: \(via)."),
        cycle.map { $0.field.defaultValue?.location })
      return
    }
    guard visited.insert(ObjectIdentifier(field)).inserted else { return }
    path.append(("\(type.name).\(field.name)", field))
    search(value, field.type, &report)
    path.removeLast()
  }

  /// Looks at the defaults that come into play when `value` is taken for `type`.
  private mutating func search(_ value: Value, _ type: WrappedType, _ report: inout TypeSystemReport) {
    switch value.kind {
    case .list(let values):
      for element in values { search(element, type.element ?? type, &report) }
    case .object(let fields):
      let object = schema[type.named]
      guard object.kind == .inputObject else { return }
      for input in object.inputFields {
        if let given = fields.first(where: { $0.name.text == input.name }) {
          search(given.value, input.type, &report)
        } else {
          search(input, of: object, &report)
        }
      }
    case .variable, .int, .float, .string, .boolean, .null, .enumeration: return
    }
  }
}
