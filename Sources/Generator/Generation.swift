import MartletGraphQLLanguage
import MartletModels

/// One run of the generator over validated operations.
struct Generation {
  private struct Operation {
    var definition: OperationDefinition
    var graphQLName: String
    var name: String
    var inputs: [InputShape]
    var shape: Shape
  }

  private let schema: Schema
  private let sources: JoinedSources
  private let configuration: GeneratorConfiguration
  private let limits: GeneratorLimits
  private let models: [ModelDefinition]
  /// Types that are embedded in models, by name.
  private var embedded: [NamedType] = []
  private var names: TypeNames
  private var used: UsedTypes
  /// Operations and fragments with `__typename` where it is needed, in order of their names.
  private let operations: [OperationDefinition]
  private let fragments: [FragmentDefinition]
  private let fragmentTable: [String: FragmentDefinition]
  private var errors: [GenerationError] = []

  init(
    schema: Schema, sources: JoinedSources, configuration: GeneratorConfiguration, limits: GeneratorLimits,
    models: [ModelDefinition]
  ) throws(GenerationErrors) {
    self.schema = schema
    self.models = models
    self.sources = sources
    self.configuration = configuration
    self.limits = limits
    let written = Dictionary(sources.document.fragments.map { ($0.name.text, $0) }) { first, _ in first }
    let insertion = TypenameInsertion(schema: schema, fragments: written)
    operations = sources.document.operations.map(insertion.operation)
      .sorted { ($0.name?.text ?? "") < ($1.name?.text ?? "") }
    fragments = sources.document.fragments.map(insertion.fragment).sorted { $0.name.text < $1.name.text }
    fragmentTable = Dictionary(fragments.map { ($0.name.text, $0) }) { first, _ in first }
    used = UsedTypes(schema: schema)
    names = TypeNames(configuration: configuration)
    collectTypes()
    claimNames()
    guard names.errors.isEmpty else { throw GenerationErrors(names.errors) }
  }

  private mutating func collectTypes() {
    for operation in operations {
      for variable in operation.variables {
        if let type = schema.resolve(variable.type) {
          used.add(input: type, hasDefault: variable.defaultValue != nil)
        }
      }
      if let root = schema.rootType(operation.kind) { used.add(operation.selectionSet, on: root) }
    }
    for fragment in fragments {
      if let type = schema.type(fragment.typeCondition.text) { used.add(fragment.selectionSet, on: type) }
    }
    for model in models {
      for field in model.fields {
        switch field.kind {
        case .scalar: break
        case .enumeration(let name, _), .embedded(let name): addStored(name)
        }
      }
    }
    embedded.sort { $0.name < $1.name }
  }

  /// An enum or a type that models store, with the types inside it.
  private mutating func addStored(_ name: String) {
    guard let type = schema.type(name) else { return }
    switch type.kind {
    case .enumeration: used.add(stored: type)
    case .object:
      guard !embedded.contains(where: { $0.name == name }) else { return }
      embedded.append(type)
      for field in type.fields { addStored(schema[field.type.named].name) }
    case .scalar, .interface, .union, .inputObject: break
    }
  }

  private mutating func claimNames() {
    let sources = sources
    for type in used.sortedEnums + used.sortedInputs {
      let what = type.kind == .enumeration ? "The enum \(type.name)" : "The input object \(type.name)"
      names.claim(
        names.schemaType(type.name), for: what, rename: "Give it another name with \"typeNames\" in the configuration."
      ) { GenerationError(.nameCollision, $0) }
    }
    for name in models.map(\.name) + embedded.map(\.name) {
      names.claim(
        names.schemaType(name), for: "The type \(name)",
        rename: "Give it another name with \"typeNames\" in the configuration."
      ) { GenerationError(.nameCollision, $0) }
    }
    if !models.isEmpty {
      names.claim("Models", for: "The list of models", rename: "Rename the type.") {
        GenerationError(.nameCollision, $0)
      }
    }
    for fragment in fragments {
      names.claim(
        names.fragment(fragment.name.text), for: "The fragment \(fragment.name.text)", rename: "Rename the fragment."
      ) { sources.error(.nameCollision, $0, at: fragment.name.location.source) }
    }
    for operation in operations {
      guard let name = operation.name else { continue }
      names.claim(
        names.operation(operation, name: name.text), for: "The \(operation.kind.rawValue) \(name.text)",
        rename: "Rename the operation."
      ) { sources.error(.nameCollision, $0, at: name.location.source) }
    }
  }

  // MARK: Run

  mutating func run() throws(GenerationErrors) -> Generator.Output {
    var builder = ShapeBuilder(
      schema: schema, fragments: fragmentTable, names: names, sources: sources, limits: limits)
    for fragment in fragments { builder.makeShape(of: fragment) }
    var made: [Operation] = []
    for operation in operations {
      guard let graphQLName = operation.name?.text else { continue }
      let name = names.operation(operation, name: graphQLName)
      guard let shape = builder.shape(of: operation, type: name) else { continue }
      made.append(
        Operation(
          definition: operation, graphQLName: graphQLName, name: name, inputs: inputs(operation, name), shape: shape))
    }
    errors += builder.errors
    guard errors.isEmpty else { throw GenerationErrors(errors) }
    let conversions = ConversionBuilder(
      schema: schema, fragmentShapes: builder.fragmentShapes, names: names, configuration: configuration)
    for fragment in fragments {
      if let shape = builder.fragmentShapes[fragment.name.text] { conversions.convert(shape) }
    }
    for operation in made { conversions.convert(operation.shape) }
    let files = try write(made, builder.fragmentShapes)
    return Generator.Output(files: files, selectedFields: countFields())
  }

  private mutating func inputs(_ operation: OperationDefinition, _ name: String) -> [InputShape] {
    var claimed: [String: String] = [:]
    return operation.variables.compactMap { variable in
      guard let type = schema.resolve(variable.type) else { return nil }
      let property = SwiftName.property(variable.name.text, besides: SwiftName.operationMembers)
      if let other = claimed.updateValue(variable.name.text, forKey: property) {
        errors.append(
          sources.error(
            .nameCollision,
            "'$\(other)' and '$\(variable.name.text)' would both be the property '\(property)' of \(name).",
            at: variable.location.source))
      }
      return InputShape(
        name: variable.name.text, property: property, type: type, hasDefault: variable.defaultValue != nil,
        schema: schema, names: names)
    }
  }

  // MARK: Writing

  private func write(
    _ made: [Operation], _ shapes: [String: Shape]
  ) throws(GenerationErrors) -> [GeneratedFile] {
    let structs = StructWriter(schema: schema, configuration: configuration)
    var inputs = InputWriter(schema: schema, names: names, configuration: configuration, sources: sources)
    var pieces: [FilePiece] = []
    for operation in made {
      var text = SwiftText()
      write(operation, structs, inputs, to: &text)
      pieces.append(
        FilePiece(name: operation.name, source: sources.file(of: operation.definition.location), lines: text.lines))
    }
    for fragment in fragments {
      guard let shape = shapes[fragment.name.text] else { continue }
      var text = SwiftText()
      if configuration.descriptions {
        text.comment(sources.document.fragments.first { $0.name.text == fragment.name.text }?.description?.text)
      }
      structs.write(shape, aliasOf: names.fragment, to: &text)
      structs.writeCoding(shape, to: &text)
      pieces.append(
        FilePiece(
          name: names.fragment(fragment.name.text), source: sources.file(of: fragment.location), lines: text.lines))
    }
    var types = SwiftText()
    for type in used.sortedEnums {
      types.space()
      inputs.enumeration(type, isNullable: used.nullableEnums.contains(type.id), to: &types)
    }
    for type in used.storedEnums {
      types.space()
      types.block("nonisolated extension \(names.schemaType(type.name)): QueryOperand") { _ in }
    }
    for type in used.sortedInputs {
      types.space()
      inputs.inputObject(type, to: &types)
    }
    pieces += try modelPieces()
    guard inputs.errors.isEmpty else { throw GenerationErrors(inputs.errors) }
    if !types.lines.isEmpty { pieces.append(FilePiece(name: "SchemaTypes", source: "the schema", lines: types.lines)) }
    return FilePiece.files(pieces, configuration)
  }

  /// A file for each model, and one for what they share.
  private func modelPieces() throws(GenerationErrors) -> [FilePiece] {
    guard !models.isEmpty else { return [] }
    var builder = ModelShapeBuilder(models: models, schema: schema, names: names, configuration: configuration)
    let shapes = builder.shapes()
    guard builder.errors.isEmpty else { throw GenerationErrors(builder.errors) }
    let writer = ModelWriter(schema: schema, names: names, configuration: configuration)
    var pieces: [FilePiece] = []
    for shape in shapes {
      var text = SwiftText()
      writer.write(shape, to: &text)
      pieces.append(FilePiece(name: shape.name, source: "the schema", lines: text.lines))
    }
    var shared = SwiftText()
    writer.list(shapes, to: &shared)
    for type in embedded {
      shared.space()
      writer.embedded(type, to: &shared)
    }
    pieces.append(FilePiece(name: "Models", source: "the schema", lines: shared.lines))
    return pieces
  }

  private func write(_ operation: Operation, _ structs: StructWriter, _ inputs: InputWriter, to text: inout SwiftText) {
    let prefix = configuration.prefix
    if configuration.descriptions {
      text.comment(
        sources.document.operations.first { $0.name?.text == operation.graphQLName }?.description?.text)
    }
    let kind = SwiftName.capitalised(operation.definition.kind.rawValue)
    text.block("\(configuration.typePrefix)struct \(operation.name): GraphQL\(kind), Codable") { text in
      text.line("\(prefix)static let operationName = \"\(operation.graphQLName)\"")
      text.string("\(prefix)static let operationDocument = ", document(of: operation.definition))
      if operation.inputs.isEmpty {
        if configuration.access != .internal { text.line("\(prefix)init() {}") }
      } else {
        text.space()
        inputs.properties(operation.inputs, to: &text)
      }
      text.space()
      structs.write(operation.shape, aliasOf: names.fragment, to: &text)
    }
    structs.writeCoding(operation.shape, to: &text)
  }

  /// The operation with every fragment it reaches.
  private func document(of operation: OperationDefinition) -> String {
    var reached: Set<String> = []
    var waiting = [operation.selectionSet]
    while let set = waiting.popLast() {
      for selection in set.selections {
        switch selection {
        case .field(let field): if let inner = field.selectionSet { waiting.append(inner) }
        case .inlineFragment(let fragment): waiting.append(fragment.selectionSet)
        case .fragmentSpread(let spread):
          guard reached.insert(spread.name.text).inserted, let fragment = fragmentTable[spread.name.text] else {
            continue
          }
          waiting.append(fragment.selectionSet)
        }
      }
    }
    let needed = fragments.filter { reached.contains($0.name.text) }
    return CompactText.text(of: [.operation(operation)] + needed.map { .fragment($0) })
  }

  private func countFields() -> Int {
    var count = 0
    var waiting =
      sources.document.operations.map(\.selectionSet) + sources.document.fragments.map(\.selectionSet)
    while let set = waiting.popLast() {
      for selection in set.selections {
        switch selection {
        case .field(let field):
          count += 1
          if let inner = field.selectionSet { waiting.append(inner) }
        case .inlineFragment(let fragment): waiting.append(fragment.selectionSet)
        case .fragmentSpread: break
        }
      }
    }
    return count
  }
}
