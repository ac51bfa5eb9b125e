import MartletGraphQLLanguage
import MartletJSON
internal import MartletModels
internal import MartletVocabulary

/// Reads the `@model` types of a document into model definitions. What a directive means is read by a type of its own,
/// such as `ModelKeys`; relations are read when all models are known.
struct ModelReader {
  private let document: Document
  private(set) var models: [ModelDefinition] = []
  private(set) var complaints = Complaints()
  private let types: [String: TypeDefinition]
  /// What models without `@versioned` do about conflicts; nil for models without versions.
  private let conflicts: ConflictStrategy?

  init(_ document: Document, conflicts: ConflictStrategy? = nil) {
    self.document = document
    self.conflicts = conflicts
    var types: [String: TypeDefinition] = [:]
    for definition in document.definitions {
      if case .type(let type) = definition { types[type.name.text] = type }
    }
    self.types = types
  }

  mutating func read() {
    for definition in document.definitions {
      guard case .type(let type) = definition, let directive = type.directive("model") else { continue }
      readModel(type, directive)
    }
    var relations = RelationReader(document, models, complaints)
    relations.read()
    models = relations.models
    complaints = relations.complaints
  }

  private func isModel(_ name: String) -> Bool { types[name]?.directive("model") != nil }

  // MARK: One model

  private mutating func readModel(_ type: TypeDefinition, _ directive: Directive) {
    let name = type.name.text
    guard ["Query", "Mutation", "Subscription"].contains(name) == false else {
      return complaints.add("The root type \(name) cannot be a model.", at: type.location)
    }
    let table =
      type.directive("mapsTo")?.argument("name")?.string ?? type.directive("refersTo")?.argument("name")?.string
    var model = ModelDefinition(
      number: models.count, name: name, pluralName: ModelNames.plural(name), tableName: table ?? name, fields: [],
      primaryKey: [], place: type.location.place)
    for field in type.fields {
      if field.isRelation { continue }
      if let computed = field.directive("computed") {
        readComputed(field, computed, &model)
        continue
      }
      if let stored = storedField(field, of: name) { model.fields.append(stored) }
    }
    ModelKeys.readPrimary(type, &model, &complaints)
    TimeStamps.read(directive, &model, &complaints)
    AccessReader.read(type, &model, &complaints)
    ModelKeys.readIndexes(type, &model, &complaints)
    model.conflicts = VersionedModels.read(type, otherwise: conflicts, &complaints)
    OperationNames.read(directive, &model)
    models.append(model)
  }

  /// A field that a resolver answers. What is said about stored values cannot be said of it.
  private mutating func readComputed(_ field: FieldDefinition, _ directive: Directive, _ model: inout ModelDefinition) {
    let stored = ["primaryKey", "index", "default", "mapsTo", "validate"]
    if let wrong = field.directives.first(where: { stored.contains($0.name.text) }) {
      return complaints.add(
        "\(model.name).\(field.name.text) is @computed and so has no @\(wrong.name.text): it is not stored.",
        at: wrong.location)
    }
    model.computed.append(field.name.text)
  }

  private mutating func storedField(_ field: FieldDefinition, of model: String) -> ModelField? {
    let named = field.type.name.text
    guard let kind = kind(named) else {
      let hint =
        isModel(named)
        ? "Say how they belong together: @hasOne, @hasMany, @belongsTo or @manyToMany." : "There is no such type."
      complaints.add("\(model).\(field.name.text) has the type \(named). \(hint)", at: field.location)
      return nil
    }
    guard field.arguments.isEmpty else {
      complaints.add("\(model).\(field.name.text) is stored and so has no arguments.", at: field.location)
      return nil
    }
    var stored = ModelField(
      name: field.name.text, columnName: field.directive("mapsTo")?.argument("name")?.string ?? field.name.text,
      kind: kind, isRequired: field.type.isNonNull, place: field.location.place)
    var type = field.type
    if case .nonNull(let inner, _) = type { type = inner }
    if case .list(let element, _) = type {
      stored.isList = true
      stored.isElementRequired = element.isNonNull
      var inner = element
      if case .nonNull(let nullable, _) = inner { inner = nullable }
      if case .list = inner {
        complaints.add("\(model).\(field.name.text) is a list of lists, which cannot be stored.", at: field.location)
        return nil
      }
    }
    readDefault(field, &stored, model)
    readValidations(field, &stored, model)
    return stored
  }

  private func kind(_ name: String) -> ModelField.Kind? {
    if let scalar = ScalarKind(rawValue: name) { return .scalar(scalar) }
    guard let type = types[name], type.directive("model") == nil else { return nil }
    switch type.content {
    case .enumeration(let values): return .enumeration(name: name, values: values.map(\.name.text))
    case .object: return .embedded(name)
    case .scalar: return .scalar(.string)
    case .interface, .union, .inputObject: return nil
    }
  }

  private mutating func readDefault(_ field: FieldDefinition, _ stored: inout ModelField, _ model: String) {
    guard let directive = field.directive("default"), let text = directive.argument("value")?.string else { return }
    let place = "\(model).\(field.name.text)"
    guard !stored.isList else {
      return complaints.add("\(place) is a list and can have no default.", at: directive.location)
    }
    switch stored.kind {
    case .embedded:
      complaints.add("\(place) is an embedded type and can have no default.", at: directive.location)
    case .enumeration(let name, let values):
      if values.contains(text) {
        stored.defaultValue = .string(text)
      } else {
        complaints.add("The default \"\(text)\" of \(place) is not a value of \(name).", at: directive.location)
      }
    case .scalar(let kind):
      if let value = Self.value(text, of: kind), kind.accepts(value) {
        stored.defaultValue = value
      } else {
        complaints.add("The default \"\(text)\" of \(place) is not of type \(kind.rawValue).", at: directive.location)
      }
    }
  }

  /// A scalar written as text.
  private static func value(_ text: String, of kind: ScalarKind) -> JSONValue? {
    switch kind.filterBase {
    case .int: Int64(text).map { .int($0) }
    case .float: (try? JSONValue(parsing: text)).flatMap { $0.double.map { .double($0) } }
    case .boolean: text == "true" ? .bool(true) : text == "false" ? .bool(false) : nil
    case .id, .string, .awsDate, .awsTime, .awsDateTime, .awsTimestamp, .awsEmail, .awsJSON, .awsURL, .awsPhone,
      .awsIPAddress:
      .string(text)
    }
  }

  private mutating func readValidations(_ field: FieldDefinition, _ stored: inout ModelField, _ model: String) {
    for directive in field.directives where directive.name.text == "validate" {
      guard case .enumeration(let name)? = directive.argument("type")?.kind,
        let rule = FieldValidation.Rule(rawValue: name), let value = directive.argument("value")?.string
      else { continue }
      let place = "\(model).\(field.name.text)"
      let isNumber = rule == .gt || rule == .lt || rule == .gte || rule == .lte
      let base = stored.filterBase
      let fits = isNumber ? base == .int || base == .float : base == .string || base == .id
      guard !stored.isList, fits else {
        complaints.add("@validate(type: \(name)) does not fit the type of \(place).", at: directive.location)
        continue
      }
      let needsNumber = isNumber || rule == .minLength || rule == .maxLength
      guard !needsNumber || Double(value) != nil else {
        complaints.add("@validate(type: \(name)) of \(place) needs a number, not \"\(value)\".", at: directive.location)
        continue
      }
      guard rule != .matches || (try? Regex(value)) != nil else {
        complaints.add("\"\(value)\" on \(place) is not a regular expression.", at: directive.location)
        continue
      }
      stored.validations.append(
        FieldValidation(rule: rule, value: value, errorMessage: directive.argument("errorMessage")?.string))
    }
  }
}
