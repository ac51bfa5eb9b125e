/// Every input object can be given a finite value (section 3.10).
struct InputCycles {
  private let schema: Schema
  /// Types known to have a finite value.
  private var finite: Set<TypeID> = []
  private var visited: Set<TypeID> = []
  private var path: [(type: NamedType, field: SchemaInput)] = []
  private var positions: [TypeID: Int] = [:]

  static func check(_ schema: Schema, _ report: inout TypeSystemReport) {
    var cycles = InputCycles(schema: schema)
    cycles.findFinite()
    for type in schema.types where type.kind == .inputObject { cycles.search(type, &report) }
  }

  private init(schema: Schema) {
    self.schema = schema
  }

  /// Grows the set of finite types until nothing more follows from it.
  private mutating func findFinite() {
    let inputs = schema.types.filter { $0.kind == .inputObject }
    var hasGrown = true
    while hasGrown {
      hasGrown = false
      for type in inputs where !finite.contains(type.id) {
        let endless = type.inputFields.filter { isEndless($0, of: type) }
        let isFinite = type.isOneOf ? endless.count < max(1, type.inputFields.count) : endless.isEmpty
        if isFinite {
          finite.insert(type.id)
          hasGrown = true
        }
      }
    }
  }

  /// Whether a value of the field needs a value of a type that is not known to be finite.
  private func isEndless(_ field: SchemaInput, of type: NamedType) -> Bool {
    guard field.type.isNamed, field.type.isNonNull || type.isOneOf, schema[field.type.named].kind == .inputObject
    else { return false }
    return !finite.contains(field.type.named)
  }

  private mutating func search(_ type: NamedType, _ report: inout TypeSystemReport) {
    guard !finite.contains(type.id), visited.insert(type.id).inserted else { return }
    positions[type.id] = path.count
    for field in type.inputFields where isEndless(field, of: type) {
      path.append((type, field))
      if let position = positions[field.type.named] {
        let cycle = path[position...]
        let names = cycle.map { "\($0.type.name).\($0.field.name)" }.joined(separator: ", ")
        report.add(
          .inputCycles,
          "Input Object \(schema[field.type.named].name) cannot be provided a finite value because it references itself "
            + "through fields: \(names).", cycle.map { $0.field.definition?.location })
      } else {
        search(schema[field.type.named], &report)
      }
      path.removeLast()
    }
    positions[type.id] = nil
  }
}
