/// A directive definition does not use the directive it defines, be it through the types of its arguments
/// (section 3.13).
struct DirectiveCycles {
  private let schema: Schema
  private var waiting: [Directive] = []
  private var seenTypes: Set<TypeID> = []

  static func check(_ schema: Schema, _ report: inout TypeSystemReport) {
    for directive in schema.directives {
      guard let definition = directive.definition else { continue }
      var cycles = DirectiveCycles(schema: schema)
      if cycles.reaches(directive) {
        report.add(
          .directiveCycles, "Directive @\(directive.name) cannot reference itself.", [definition.location])
      }
    }
  }

  private init(schema: Schema) {
    self.schema = schema
  }

  private mutating func reaches(_ directive: SchemaDirective) -> Bool {
    var seen: Set<String> = []
    visit(directive.arguments)
    while let applied = waiting.popLast() {
      if applied.name.text == directive.name { return true }
      guard seen.insert(applied.name.text).inserted, let next = schema.directive(applied.name.text) else { continue }
      visit(next.arguments)
    }
    return false
  }

  private mutating func visit(_ inputs: [SchemaInput]) {
    for input in inputs {
      waiting += input.appliedDirectives
      let type = schema[input.type.named]
      guard seenTypes.insert(type.id).inserted else { continue }
      waiting += type.appliedDirectives
      for value in type.enumValues { waiting += value.appliedDirectives }
      visit(type.inputFields)
    }
  }
}
