import MartletGraphQLLanguage
import MartletModels

/// Writes the structs of models and of the types embedded in them.
struct ModelWriter {
  let schema: Schema
  let names: TypeNames
  let configuration: GeneratorConfiguration
  private var prefix: String { configuration.prefix }

  init(schema: Schema, names: TypeNames, configuration: GeneratorConfiguration) {
    self.schema = schema
    self.names = names
    self.configuration = configuration
  }

  func write(_ shape: ModelShape, to text: inout SwiftText) {
    text.comment(shape.description)
    text.block("\(configuration.typePrefix)struct \(shape.name): StoredModel, Hashable") { text in
      properties(shape.properties, to: &text)
      text.space()
      text.block("\(prefix)enum CodingKeys: String, ModelKey") { text in
        text.list("case ", shape.properties.map { StructWriter.codingKey($0.property, $0.name) })
      }
      statics(shape, to: &text)
    }
    reading(shape, to: &text)
  }

  /// How a model reads itself from its row, field by field.
  private func reading(_ shape: ModelShape, to text: inout SwiftText) {
    text.space()
    text.block("nonisolated extension \(shape.name): RowDecodable") { text in
      text.block("\(prefix)init(from row: inout ModelRow) throws") { text in
        for property in shape.properties {
          let name = SwiftName.escaped(property.property)
          text.line("let \(name): \(property.type) = try row.\(Self.reading(property.type))()")
        }
        let names = shape.properties.map { SwiftName.escaped($0.property) }
        text.list("self.init(", names.map { "\($0): \($0)" }, ")")
      }
    }
  }

  /// The function of a row that reads a field of a type.
  private static func reading(_ type: String) -> String {
    if type.hasSuffix("?") { return "nextIfPresent" }
    if type.hasPrefix("LazyReference<") { return "nextReference" }
    return type.hasPrefix("List<") ? "nextList" : "next"
  }

  private func properties(_ properties: [ModelShape.Property], to text: inout SwiftText) {
    let isInternal = configuration.access == .internal
    for property in properties {
      text.comment(property.description)
      let value = isInternal ? property.defaultText.map { " = \($0)" } ?? "" : ""
      text.line("\(prefix)var \(SwiftName.escaped(property.property)): \(property.type)\(value)")
    }
    guard !isInternal else { return }
    text.space()
    let parameters = properties.map {
      "\(SwiftName.escaped($0.property)): \($0.type)" + ($0.defaultText.map { " = \($0)" } ?? "")
    }
    StructWriter.initialiser(prefix, parameters, properties.map(\.property), to: &text)
  }

  private func statics(_ shape: ModelShape, to text: inout SwiftText) {
    let model = shape.model
    text.space()
    if shape.name != model.name { text.line("\(prefix)static let modelName = \"\(model.name)\"") }
    text.line("\(prefix)static let pluralModelName = \"\(model.pluralName)\"")
    let key = model.primaryKey.map { model.fields[$0].name }
    if key != ["id"] {
      text.line("\(prefix)static var primaryKey: [CodingKeys] { [\(cases(key, shape))] }")
    }
    let keyTypes = model.primaryKey.compactMap { position -> String? in
      let field = model.fields[position]
      guard case .scalar(let kind) = field.kind else { return nil }
      let usual = field.name == "id" ? "ID" : "String"
      return kind.rawValue == usual ? nil : "\(cases([field.name], shape)): \"\(kind.rawValue)\""
    }
    table("keyTypes", "String", keyTypes, to: &text)
    let readOnly = [model.createdAt, model.updatedAt].compactMap { $0.map { model.fields[$0].name } }
    if !readOnly.isEmpty, readOnly != ["createdAt", "updatedAt"] {
      text.line("\(prefix)static var readOnly: [CodingKeys] { [\(cases(readOnly, shape))] }")
    }
    func entries(_ value: (ModelShape.Property) -> String?) -> [String] {
      shape.properties.compactMap { property in value(property).map { "\(cases([property.name], shape)): \($0)" } }
    }
    table("relations", "ModelAssociation", entries(\.association), to: &text)
    table("nested", "ModelSelection", entries(\.selection), to: &text)
    table("fieldDefaults", "JSONValue", entries(\.storedDefault), to: &text)
    let indexes = model.indexes.map { index in
      let fields = index.fields.map { "\"\(model.fields[$0].name)\"" }.joined(separator: ", ")
      return "StoredIndex(\"\(SwiftText.escaped(index.name))\", fields: \(fields))"
    }
    guard !indexes.isEmpty else { return }
    text.block("\(prefix)static var indexes: [StoredIndex]") { text in
      text.line("[")
      for index in indexes { text.line("  \(index),") }
      text.line("]")
    }
  }

  private func table(_ name: String, _ type: String, _ entries: [String], to text: inout SwiftText) {
    guard !entries.isEmpty else { return }
    text.block("\(prefix)static var \(name): [CodingKeys: \(type)]") { text in
      text.line("[")
      for entry in entries { text.line("  \(entry),") }
      text.line("]")
    }
  }

  /// `.id, .title`: cases of the struct's keys.
  private func cases(_ fields: [String], _ shape: ModelShape) -> String {
    fields.compactMap { name in
      shape.properties.first { $0.name == name }.map { "." + SwiftName.escaped($0.property) }
    }.joined(separator: ", ")
  }

  // MARK: Embedded types

  func embedded(_ type: NamedType, to text: inout SwiftText) {
    if configuration.descriptions { text.comment(type.description) }
    let properties = type.fields.map { field in
      let named = schema[field.type.named]
      let base = named.kind == .object || named.kind == .enumeration ? names.schemaType(named.name) : leaf(named)
      return ModelShape.Property(
        name: field.name, property: SwiftName.property(field.name),
        type: StructWriter.type(field.type, base, isOptional: !field.type.isNonNull),
        defaultText: field.type.isNonNull ? nil : "nil",
        description: configuration.descriptions ? field.description : nil)
    }
    text.block("\(configuration.typePrefix)struct \(names.schemaType(type.name)): Codable, Hashable, Sendable") {
      text in
      self.properties(properties, to: &text)
      if properties.contains(where: { $0.property != $0.name }) {
        text.space()
        text.block("enum CodingKeys: String, CodingKey") { text in
          text.list("case ", properties.map { StructWriter.codingKey($0.property, $0.name) })
        }
      }
    }
  }

  private func leaf(_ type: NamedType) -> String {
    guard configuration.scalars[type.name] == nil else { return configuration.scalar(type.name).type }
    switch type.name {
    case "AWSDate": return "Temporal.Date"
    case "AWSTime": return "Temporal.Time"
    case "AWSDateTime": return "Temporal.DateTime"
    default: return configuration.scalar(type.name).type
    }
  }

  /// The list of all models, for opening a store.
  func list(_ shapes: [ModelShape], to text: inout SwiftText) {
    text.comment("The models of the schema, for `DataStore(models: Models.all, storage: …)`.")
    text.block("\(configuration.typePrefix)enum Models") { text in
      text.list("\(prefix)static let all: [any Model.Type] = [", shapes.map { "\($0.name).self" }, "]")
    }
  }
}
