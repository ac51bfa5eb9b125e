import MartletGraphQLLanguage
import MartletJSON
import MartletModels

/// Decides what the structs of a schema's models have.
struct ModelShapeBuilder {
  let models: [ModelDefinition]
  let schema: Schema
  let names: TypeNames
  let configuration: GeneratorConfiguration
  private(set) var errors: [GenerationError] = []

  init(models: [ModelDefinition], schema: Schema, names: TypeNames, configuration: GeneratorConfiguration) {
    self.models = models
    self.schema = schema
    self.names = names
    self.configuration = configuration
  }

  mutating func shapes() -> [ModelShape] { models.sorted { $0.name < $1.name }.map { shape($0) } }

  private mutating func shape(_ model: ModelDefinition) -> ModelShape {
    let type = schema.type(model.name)
    // A reference stands for the fields that hold its key, unless they identify the record itself.
    let held = Set(
      model.relations.filter { holdsKey($0) }.flatMap(\.sourceFields).filter { !model.primaryKey.contains($0) })
    var properties: [ModelShape.Property] = []
    for (position, field) in model.fields.enumerated() where !held.contains(position) {
      properties.append(property(field, position, model, type))
    }
    for relation in model.relations {
      if let property = property(relation, model, type) { properties.append(property) }
    }
    var claimed: [String: String] = [:]
    for property in properties {
      if let other = claimed.updateValue(property.name, forKey: property.property) {
        errors.append(
          GenerationError(
            .nameCollision,
            "'\(other)' and '\(property.name)' of \(model.name) would both be '\(property.property)' in Swift."))
      }
    }
    return ModelShape(
      name: names.schemaType(model.name), model: model,
      description: configuration.descriptions ? type?.description : nil,
      properties: properties, hidden: held.sorted().map { model.fields[$0].name })
  }

  private func holdsKey(_ relation: ModelRelation) -> Bool {
    switch relation.kind {
    case .belongsTo: true
    case .hasMany: false
    case .hasOne: relation.targetFields == models[relation.target].primaryKey
    }
  }

  // MARK: Fields

  private func property(
    _ field: ModelField, _ position: Int, _ model: ModelDefinition, _ type: NamedType?
  ) -> ModelShape.Property {
    let base = base(field)
    let isTimestamp = position == model.createdAt || position == model.updatedAt
    // The server fills time stamps in, so that a new record has none.
    let isRequired = field.isRequired && !isTimestamp
    var swift = field.isList ? "[\(base)\(field.isElementRequired ? "" : "?")]" : base
    if !isRequired { swift += "?" }
    var result = ModelShape.Property(
      name: field.name, property: SwiftName.property(field.name), type: swift,
      defaultText: isRequired ? nil : "nil",
      description: configuration.descriptions ? type?.fields.first { $0.name == field.name }?.description : nil)
    if case .embedded(let name) = field.kind, let selection = selection(name, depth: 0) {
      result.selection = ".embedded(\"\(selection)\")"
    }
    if model.primaryKey == [position], field.name == "id", field.kind == .scalar(.id) {
      result.defaultText = "ModelIdentifier.newID()"
    }
    if !field.isList, let value = field.defaultValue, let text = literal(value, field) {
      result.defaultText = text.value
      result.storedDefault = text.json
    }
    return result
  }

  private func base(_ field: ModelField) -> String {
    switch field.kind {
    case .scalar(let kind): scalar(kind.rawValue)
    case .enumeration(let name, _), .embedded(let name): names.schemaType(name)
    }
  }

  /// The Swift type of a scalar: what the configuration says, or the store's own for dates and times.
  private func scalar(_ name: String) -> String {
    if configuration.scalars[name] == nil {
      switch name {
      case "AWSDate": return "Temporal.Date"
      case "AWSTime": return "Temporal.Time"
      case "AWSDateTime": return "Temporal.DateTime"
      default: break
      }
    }
    return configuration.scalar(name).type
  }

  /// A default as Swift of the property's type and as JSON; nil for types whose literals the generator does not know.
  private func literal(_ value: JSONValue, _ field: ModelField) -> (value: String, json: String)? {
    switch (field.kind, value) {
    case (.enumeration(let name, let values), .string(let text)):
      let cases = SwiftName.enumCases(values)
      guard let place = values.firstIndex(of: text) else { return nil }
      return ("\(names.schemaType(name)).\(SwiftName.escaped(cases[place]))", "\"\(SwiftText.escaped(text))\"")
    case (.scalar(let kind), .string(let text)) where scalar(kind.rawValue) == "String":
      let literal = "\"\(SwiftText.escaped(text))\""
      return (literal, literal)
    case (.scalar(.boolean), .bool(let flag)): return ("\(flag)", "\(flag)")
    case (.scalar(.int), .int(let number)), (.scalar(.awsTimestamp), .int(let number)):
      return ("\(number)", "\(number)")
    case (.scalar(.float), _): return value.double.map { ("\($0)", "\($0)") }
    default: return nil
    }
  }

  /// The members of an embedded type as a selection; nil when it holds itself.
  private func selection(_ name: String, depth: Int) -> String? {
    guard depth < 8, let type = schema.type(name) else { return nil }
    var parts: [String] = []
    for field in type.fields {
      let inner = schema[field.type.named]
      if inner.kind == .object {
        guard let nested = selection(inner.name, depth: depth + 1) else { return nil }
        parts.append("\(field.name) { \(nested) }")
      } else {
        parts.append(field.name)
      }
    }
    return parts.joined(separator: " ")
  }

  // MARK: Relations

  private mutating func property(
    _ relation: ModelRelation, _ model: ModelDefinition, _ type: NamedType?
  ) -> ModelShape.Property? {
    let target = models[relation.target]
    let other = names.schemaType(target.name)
    var result = ModelShape.Property(
      name: relation.name, property: SwiftName.property(relation.name), type: "LazyReference<\(other)>",
      defaultText: "LazyReference(nil)",
      description: configuration.descriptions ? type?.fields.first { $0.name == relation.name }?.description : nil)
    let isHeld = holdsKey(relation)
    let selected = isHeld ? relation.targetFields == target.primaryKey : relation.sourceFields == model.primaryKey
    guard selected else {
      errors.append(
        GenerationError(
          .validation,
          "\(model.name).\(relation.name) does not lead from one record's whole key to the other's fields, and so cannot "
            + "be a relation of a store's models."))
      return nil
    }
    let fields =
      (isHeld
      ? relation.sourceFields.map { model.fields[$0].name }
      : relation.targetFields.map { target.fields[$0].name }).map { "\"\($0)\"" }.joined(separator: ", ")
    let isRequired = isHeld && (relation.isRequired || relation.sourceFields.allSatisfy { model.fields[$0].isRequired })
    let required = isRequired ? ", isRequired: true" : ""
    if isRequired { result.defaultText = nil }
    result.selection = ".key(of: \(other).self)"
    switch relation.kind {
    case .belongsTo: result.association = ".belongsTo(\(other).self, fields: \(fields)\(required))"
    case .hasOne where isHeld: result.association = ".hasOne(\(other).self, heldIn: \(fields)\(required))"
    case .hasOne: result.association = ".hasOne(\(other).self, fields: \(fields)\(rule(relation)))"
    case .hasMany:
      result.association = ".hasMany(\(other).self, fields: \(fields)\(rule(relation)))"
      result.type = "List<\(other)>"
      result.defaultText = "[]"
      result.selection = ".page(of: \(other).self)"
    }
    return result
  }

  private func rule(_ relation: ModelRelation) -> String {
    switch relation.onDelete {
    case .restrict: ", onDelete: .restrict"
    case .setNull: ", onDelete: .setNull"
    case .cascade, nil: ""
    }
  }
}
