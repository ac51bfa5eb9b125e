import MartletGraphQLLanguage
internal import MartletModels
internal import MartletVocabulary

/// Reads `@hasMany`, `@hasOne` and `@belongsTo` of all models.
struct RelationReader {
  private let document: Document
  private(set) var models: [ModelDefinition]
  private(set) var complaints: Complaints

  init(_ document: Document, _ models: [ModelDefinition], _ complaints: Complaints) {
    self.document = document
    self.models = models
    self.complaints = complaints
  }

  /// Resolves relation fields, once all models are read. Fields that a relation needs and the schema does not declare
  /// are added.
  mutating func read() {
    // Has-many and has-one first: a belongs-to without fields uses the key that its counterpart brought in.
    for kinds in [["hasMany", "hasOne"], ["belongsTo"]] {
      for definition in document.definitions {
        guard case .type(let type) = definition, type.directive("model") != nil,
          let number = model(named: type.name.text)?.number
        else { continue }
        for field in type.fields {
          guard let directive = field.directives.first(where: { kinds.contains($0.name.text) }) else { continue }
          readRelation(field, directive, of: number)
        }
      }
    }
  }

  private mutating func readRelation(_ field: FieldDefinition, _ directive: Directive, of number: Int) {
    let owner = models[number]
    let place = "\(owner.name).\(field.name.text)"
    guard let target = model(named: field.type.name.text) else {
      return complaints.add("\(place) relates to \(field.type.name.text), which is not a model.", at: field.location)
    }
    let isList = Self.isList(field.type)
    let found: (source: [Int], target: [Int])?
    let kind: ModelRelation.Kind
    switch directive.name.text {
    case "hasMany":
      kind = .hasMany
      guard isList else { return complaints.add("\(place) has @hasMany and so must be a list.", at: field.location) }
      found = hasMany(directive, field, owner, target)
    case "hasOne":
      kind = .hasOne
      guard !isList else { return complaints.add("\(place) has @hasOne and so cannot be a list.", at: field.location) }
      found = hasOne(directive, field, owner, target)
    default:
      kind = .belongsTo
      guard !isList else {
        return complaints.add("\(place) has @belongsTo and so cannot be a list.", at: field.location)
      }
      found = belongsTo(directive, field, owner, target)
    }
    guard let found else { return }
    guard found.source.count == found.target.count, !found.source.isEmpty else {
      return complaints.add(
        "\(place) names \(found.source.count) fields for a key of \(found.target.count).", at: field.location)
    }
    for (own, other) in zip(found.source, found.target) {
      let (left, right) = (models[number].fields[own], models[target.number].fields[other])
      guard left.filterBase != nil, Self.comparable(left, right) else {
        return complaints.add(
          "\(place) compares \(left.name) with \(target.name).\(right.name), which has another type.",
          at: field.location)
      }
    }
    var limit = ModelRelation.usualLimit
    if case .int(let text)? = directive.argument("limit")?.kind, let value = Int(text), value > 0 { limit = value }
    var onDelete: ModelRelation.DeleteAction?
    if case .enumeration(let text)? = directive.argument("onDelete")?.kind {
      onDelete = ModelRelation.DeleteAction(rawValue: text)
    }
    guard onDelete == nil || found.source == owner.primaryKey else {
      return complaints.add(
        "\(place) says onDelete and so must find its children by the primary key of \(owner.name).", at: field.location)
    }
    if onDelete == .setNull {
      let kept = found.target.first {
        models[target.number].fields[$0].isRequired || models[target.number].primaryKey.contains($0)
      }
      if let kept {
        return complaints.add(
          "\(place) says onDelete: SET_NULL, and \(target.name).\(models[target.number].fields[kept].name) cannot be null.",
          at: field.location)
      }
    }
    let relation = ModelRelation(
      name: field.name.text, kind: kind, target: target.number, sourceFields: found.source,
      targetFields: found.target, isRequired: field.type.isNonNull && kind != .hasMany, limit: limit,
      onDelete: onDelete)
    models[number].relations.append(relation)
  }

  private func model(named name: String) -> ModelDefinition? { models.first { $0.name == name } }

  private static func isList(_ type: TypeReference) -> Bool {
    switch type {
    case .list: true
    case .nonNull(let inner, _): isList(inner)
    case .named: false
    }
  }

  private static func comparable(_ left: ModelField, _ right: ModelField) -> Bool {
    let text: Set<ScalarKind?> = [.id, .string]
    return left.filterBase == right.filterBase || (text.contains(left.filterBase) && text.contains(right.filterBase))
  }

  /// Positions of named fields; nil, with a complaint, when one is not stored.
  private mutating func positions(_ names: [String], in model: ModelDefinition, at location: Location) -> [Int]? {
    var found: [Int] = []
    for name in names {
      guard let position = models[model.number].position(of: name) else {
        complaints.add("\(model.name) has no stored field \"\(name)\".", at: location)
        return nil
      }
      found.append(position)
    }
    return found
  }

  private mutating func hasMany(
    _ directive: Directive, _ field: FieldDefinition, _ owner: ModelDefinition, _ target: ModelDefinition
  ) -> (source: [Int], target: [Int])? {
    if let references = directive.argument("references")?.strings {
      guard let other = positions(references, in: target, at: directive.location) else { return nil }
      return (Array(owner.primaryKey.prefix(other.count)), other)
    }
    var source = owner.primaryKey
    if let names = directive.argument("fields")?.strings {
      guard let own = positions(names, in: owner, at: directive.location) else { return nil }
      source = own
    }
    if let name = directive.argument("indexName")?.string {
      guard let index = models[target.number].indexes.first(where: { $0.name == name }) else {
        complaints.add("\(target.name) has no index \"\(name)\".", at: directive.location)
        return nil
      }
      return (source, Array(index.fields.prefix(source.count)))
    }
    let prefix = ModelNames.uncapitalized(owner.name) + ModelNames.capitalized(field.name.text)
    let added = source.enumerated().map { order, position in
      let suffix = source.count == 1 ? "Id" : ModelNames.capitalized(owner.fields[position].name)
      return addImplicit(prefix + suffix, like: owner.fields[position], to: target.number, order: order)
    }
    let index = ModelIndex(name: "by\(ModelNames.capitalized(prefix))", fields: added, queryField: nil)
    models[target.number].indexes.append(index)
    return (source, added)
  }

  private mutating func hasOne(
    _ directive: Directive, _ field: FieldDefinition, _ owner: ModelDefinition, _ target: ModelDefinition
  ) -> (source: [Int], target: [Int])? {
    if let references = directive.argument("references")?.strings {
      guard let other = positions(references, in: target, at: directive.location) else { return nil }
      return (Array(owner.primaryKey.prefix(other.count)), other)
    }
    return held(directive, field, owner, target)
  }

  private mutating func belongsTo(
    _ directive: Directive, _ field: FieldDefinition, _ owner: ModelDefinition, _ target: ModelDefinition
  ) -> (source: [Int], target: [Int])? {
    if let references = directive.argument("references")?.strings {
      guard let own = positions(references, in: owner, at: directive.location) else { return nil }
      return (own, Array(target.primaryKey.prefix(own.count)))
    }
    if directive.argument("fields") == nil,
      let counterpart = models[target.number].relations.first(where: {
        $0.target == owner.number && $0.kind != .belongsTo
      }),
      counterpart.targetFields.allSatisfy({ models[owner.number].fields[$0].isImplicit })
    {
      return (counterpart.targetFields, counterpart.sourceFields)
    }
    return held(directive, field, owner, target)
  }

  /// The owner holds the other's key, in written or added fields.
  private mutating func held(
    _ directive: Directive, _ field: FieldDefinition, _ owner: ModelDefinition, _ target: ModelDefinition
  ) -> (source: [Int], target: [Int])? {
    if let names = directive.argument("fields")?.strings {
      guard let own = positions(names, in: owner, at: directive.location) else { return nil }
      return (own, Array(target.primaryKey.prefix(own.count)))
    }
    let prefix = ModelNames.uncapitalized(owner.name) + ModelNames.capitalized(field.name.text)
    let added = target.primaryKey.enumerated().map { order, position in
      let suffix = target.primaryKey.count == 1 ? "Id" : ModelNames.capitalized(target.fields[position].name)
      return addImplicit(prefix + suffix, like: target.fields[position], to: owner.number, order: order)
    }
    return (added, target.primaryKey)
  }

  private mutating func addImplicit(_ name: String, like field: ModelField, to number: Int, order: Int) -> Int {
    if let known = models[number].position(of: name) { return known }
    var added = field
    added.name = name
    added.columnName = name
    added.isRequired = false
    added.defaultValue = nil
    added.validations = []
    added.isImplicit = true
    models[number].fields.append(added)
    return models[number].fields.count - 1
  }
}
