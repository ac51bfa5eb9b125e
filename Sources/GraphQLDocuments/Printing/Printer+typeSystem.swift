extension Printer {
  mutating func schemaDefinition(_ schema: SchemaDefinition, isExtension: Bool) {
    description(schema.description)
    text += isExtension ? "extend schema" : "schema"
    directives(schema.directives)
    guard !schema.operationTypes.isEmpty else { return }
    text += " "
    block(schema.operationTypes) { printer, operation in
      printer.text += "\(operation.kind.rawValue): \(operation.type.text)"
    }
  }

  mutating func typeDefinition(_ type: TypeDefinition, isExtension: Bool) {
    description(type.description)
    if isExtension { text += "extend " }
    text += "\(type.keyword) \(type.name.text)"
    names(type.interfaces, prefix: " implements ", separator: " & ")
    directives(type.directives)
    switch type.content {
    case .scalar: break
    case .object(_, let fields), .interface(_, let fields):
      members(fields) { printer, field in printer.fieldDefinition(field) }
    case .union(let members): names(members, prefix: " = ", separator: " | ")
    case .enumeration(let values):
      members(values) { printer, value in
        printer.description(value.description)
        printer.text += value.name.text
        printer.directives(value.directives)
      }
    case .inputObject(let fields):
      members(fields) { printer, field in printer.inputValue(field) }
    }
  }

  mutating func directiveDefinition(_ directive: DirectiveDefinition) {
    description(directive.description)
    text += "directive @\(directive.name.text)"
    argumentDefinitions(directive.arguments)
    if directive.isRepeatable { text += " repeatable" }
    text += " on " + directive.locations.map(\.rawValue).joined(separator: " | ")
  }

  private mutating func members<Item>(_ items: [Item], _ body: (inout Printer, Item) -> Void) {
    guard !items.isEmpty else { return }
    text += " "
    block(items, body)
  }

  private mutating func names(_ names: [Name], prefix: String, separator: String) {
    guard !names.isEmpty else { return }
    text += prefix + names.map(\.text).joined(separator: separator)
  }

  private mutating func fieldDefinition(_ field: FieldDefinition) {
    description(field.description)
    text += field.name.text
    argumentDefinitions(field.arguments)
    text += ": "
    type(field.type)
    directives(field.directives)
  }

  /// Arguments in one line, or on lines of their own when one of them has a description.
  private mutating func argumentDefinitions(_ arguments: [InputValueDefinition]) {
    guard !arguments.isEmpty else { return }
    text += "("
    if arguments.contains(where: { $0.description != nil }) {
      indented { printer in
        for argument in arguments {
          printer.newLine()
          printer.inputValue(argument)
        }
      }
      newLine()
    } else {
      for (index, argument) in arguments.enumerated() {
        if index > 0 { text += ", " }
        inputValue(argument)
      }
    }
    text += ")"
  }

  private mutating func inputValue(_ input: InputValueDefinition) {
    description(input.description)
    text += input.name.text + ": "
    type(input.type)
    if let value = input.defaultValue {
      text += " = "
      self.value(value)
    }
    directives(input.directives)
  }
}

extension TypeDefinition {
  /// The keyword that begins the definition.
  var keyword: String {
    switch content {
    case .scalar: "scalar"
    case .object: "type"
    case .interface: "interface"
    case .union: "union"
    case .enumeration: "enum"
    case .inputObject: "input"
    }
  }
}
