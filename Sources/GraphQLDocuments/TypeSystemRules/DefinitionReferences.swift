/// What a type system document refers to exists.
struct DefinitionReferences {
  private var types: [String: TypeDefinition] = [:]

  static func check(_ document: Document, builtIn: Document, _ report: inout TypeSystemReport) {
    var references = DefinitionReferences()
    for definition in document.definitions + builtIn.definitions {
      if case .type(let type) = definition, references.types[type.name.text] == nil, type.name.text != "MetaFields" {
        references.types[type.name.text] = type
      }
    }
    for definition in document.definitions {
      switch definition {
      case .operation, .fragment: break
      case .schema(let schema), .schemaExtension(let schema):
        for operation in schema.operationTypes { references.check(operation.type, &report) }
      case .type(let type): references.check(type, &report)
      case .typeExtension(let type):
        references.checkExtension(type, &report)
        references.check(type, &report)
      case .directive(let directive): references.check(directive.arguments, &report)
      }
    }
  }

  private func check(_ type: TypeDefinition, _ report: inout TypeSystemReport) {
    for name in type.interfaces { check(name, &report) }
    for field in type.fields {
      check(field.arguments, &report)
      check(field.type.name, &report)
    }
    switch type.content {
    case .union(let members): for name in members { check(name, &report) }
    case .inputObject(let fields): check(fields, &report)
    case .scalar, .object, .interface, .enumeration: break
    }
  }

  private func check(_ inputs: [InputValueDefinition], _ report: inout TypeSystemReport) {
    for input in inputs { check(input.type.name, &report) }
  }

  private func check(_ name: Name, _ report: inout TypeSystemReport) {
    guard types[name.text] == nil else { return }
    let near = Suggestions.near(name.text, among: types.keys.filter { !$0.utf8.starts(with: "__".utf8) })
    report.add(.knownTypeNames, "Unknown type '\(name.text)'.\(Suggestions.text(near))", [name.location])
  }

  private func checkExtension(_ type: TypeDefinition, _ report: inout TypeSystemReport) {
    let name = type.name.text
    guard let extended = types[name] else {
      let near = Suggestions.near(name, among: types.keys.filter { !$0.utf8.starts(with: "__".utf8) })
      report.add(
        .possibleTypeExtensions, "Cannot extend type '\(name)' because it is not defined.\(Suggestions.text(near))",
        [type.name.location])
      return
    }
    guard extended.kind != type.kind else { return }
    report.add(
      .possibleTypeExtensions, "Cannot extend non-\(type.kind.words) type '\(name)'.",
      [extended.location, type.location])
  }
}

extension TypeKind {
  /// The kind in words: `input object`.
  package var words: String {
    rawValue.lowercased().split(separator: "_").joined(separator: " ")
  }
}
