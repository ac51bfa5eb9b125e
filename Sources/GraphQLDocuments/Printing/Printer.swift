/// Writes documents as text, one form for each meaning: reading the text back gives an equal document.
package struct Printer {
  var text = ""
  private var level = 0
  /// Whether a query may be written as its selections alone. After a type without members they would be read as these.
  private var mayShorten = true

  init() {}

  /// The text of a document, ending in a line end.
  package static func text(of document: Document) -> String {
    var printer = Printer()
    for (index, definition) in document.definitions.enumerated() {
      if index > 0 { printer.text += "\n" }
      printer.mayShorten = index == 0
      printer.definition(definition)
      printer.text += "\n"
    }
    return printer.text
  }

  /// The text of one definition, without a line end.
  package static func text(of definition: Definition) -> String {
    var printer = Printer()
    printer.definition(definition)
    return printer.text
  }

  /// The text of a value.
  package static func text(of value: Value) -> String {
    var printer = Printer()
    printer.value(value)
    return printer.text
  }

  /// The text of a type reference.
  package static func text(of type: TypeReference) -> String {
    var printer = Printer()
    printer.type(type)
    return printer.text
  }

  /// The text of a directive as applied.
  package static func text(of directive: Directive) -> String {
    var printer = Printer()
    printer.directive(directive)
    return printer.text
  }

  private mutating func definition(_ definition: Definition) {
    switch definition {
    case .operation(let operation): self.operation(operation)
    case .fragment(let fragment): self.fragment(fragment)
    case .schema(let schema): schemaDefinition(schema, isExtension: false)
    case .schemaExtension(let schema): schemaDefinition(schema, isExtension: true)
    case .type(let type): typeDefinition(type, isExtension: false)
    case .typeExtension(let type): typeDefinition(type, isExtension: true)
    case .directive(let directive): directiveDefinition(directive)
    }
  }

  // MARK: Operations

  private mutating func operation(_ operation: OperationDefinition) {
    description(operation.description)
    let isShorthand =
      mayShorten && operation.kind == .query && operation.name == nil && operation.variables.isEmpty
      && operation.directives.isEmpty && operation.description == nil
    if !isShorthand {
      text += operation.kind.rawValue
      if let name = operation.name { text += " " + name.text }
      variables(operation.variables)
      directives(operation.directives)
      text += " "
    }
    selectionSet(operation.selectionSet)
  }

  private mutating func variables(_ variables: [VariableDefinition]) {
    guard !variables.isEmpty else { return }
    let isSpread = variables.contains { $0.description != nil }
    text += "("
    if isSpread { level += 1 }
    for (index, variable) in variables.enumerated() {
      if isSpread { newLine() } else if index > 0 { text += ", " }
      description(variable.description)
      text += "$\(variable.name.text): "
      type(variable.type)
      if let value = variable.defaultValue {
        text += " = "
        self.value(value)
      }
      directives(variable.directives)
    }
    if isSpread {
      level -= 1
      newLine()
    }
    text += ")"
  }

  private mutating func fragment(_ fragment: FragmentDefinition) {
    description(fragment.description)
    text += "fragment \(fragment.name.text) on \(fragment.typeCondition.text)"
    directives(fragment.directives)
    text += " "
    selectionSet(fragment.selectionSet)
  }

  private mutating func selectionSet(_ set: SelectionSet) {
    block(set.selections) { printer, selection in printer.selection(selection) }
  }

  private mutating func selection(_ selection: Selection) {
    switch selection {
    case .field(let field):
      if let alias = field.alias { text += alias.text + ": " }
      text += field.name.text
      arguments(field.arguments)
      directives(field.directives)
      if let set = field.selectionSet {
        text += " "
        selectionSet(set)
      }
    case .fragmentSpread(let spread):
      text += "...\(spread.name.text)"
      directives(spread.directives)
    case .inlineFragment(let fragment):
      text += "..."
      if let condition = fragment.typeCondition { text += " on \(condition.text)" }
      directives(fragment.directives)
      text += " "
      selectionSet(fragment.selectionSet)
    }
  }

  // MARK: Shared pieces

  private mutating func arguments(_ arguments: [Argument]) {
    guard !arguments.isEmpty else { return }
    text += "("
    for (index, argument) in arguments.enumerated() {
      if index > 0 { text += ", " }
      text += argument.name.text + ": "
      value(argument.value)
    }
    text += ")"
  }

  mutating func directives(_ directives: [Directive]) {
    for directive in directives {
      text += " "
      self.directive(directive)
    }
  }

  mutating func directive(_ directive: Directive) {
    text += "@" + directive.name.text
    arguments(directive.arguments)
  }

  /// Items on lines of their own between braces.
  mutating func block<Item>(_ items: [Item], _ body: (inout Printer, Item) -> Void) {
    text += "{"
    level += 1
    for item in items {
      newLine()
      body(&self, item)
    }
    level -= 1
    newLine()
    text += "}"
  }

  mutating func indented(_ body: (inout Printer) -> Void) {
    level += 1
    body(&self)
    level -= 1
  }

  mutating func newLine() {
    text += "\n"
    for _ in 0..<level { text += "  " }
  }

  /// A description on lines of its own, if there is one.
  mutating func description(_ description: StringValue?) {
    guard let description else { return }
    string(description)
    newLine()
  }
}
