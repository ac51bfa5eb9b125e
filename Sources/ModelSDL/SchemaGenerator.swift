import MartletGraphQLLanguage
internal import MartletModels
internal import MartletVocabulary

/// Writes the types, inputs and root fields that models bring, as type system text.
struct SchemaGenerator {
  let models: [ModelDefinition]
  let document: Document
  private(set) var query: [String] = []
  private(set) var mutation: [String] = []
  private(set) var subscription: [String] = []
  private(set) var types: [String] = []
  private(set) var operations: [FieldPath: BuiltInOperation] = [:]
  private var enums: Set<String> = []
  private var enumLists: Set<String> = []
  /// The bases of lists that have inputs of their own.
  private var lists: Set<String> = []

  init(models: [ModelDefinition], document: Document) {
    self.models = models
    self.document = document
  }

  mutating func generate() {
    for model in models {
      generateQueries(model)
      generateMutations(model)
      generateSubscriptions(model)
      generateInputs(model)
    }
    generateEmbeddedInputs()
    generateTransaction()
    generateChanges()
    // AppSync's have no `attributeExists`: its clients cannot ask for the records whose field has no value.
    for name in enums.sorted() {
      types.append("input Model\(name)Input { eq: \(name) ne: \(name) attributeExists: Boolean }")
    }
    for name in enumLists.sorted() {
      types.append(
        "input Model\(name)ListInput { eq: [\(name)] ne: [\(name)] contains: \(name) notContains: \(name) "
          + "attributeExists: Boolean }")
    }
    for base in lists.sorted() { types += ListInputs.source(base) }
  }

  // MARK: Root fields

  private mutating func generateQueries(_ model: ModelDefinition) {
    let type = ModelNames.capitalized(model.name)
    let connection = "Model\(type)Connection"
    let isVersioned = model.conflicts != nil
    types.append(
      "type \(connection) { items: [\(model.name)]! nextToken: String\(isVersioned ? Self.syncFields : "") }")
    let key = model.primaryKey.map { model.fields[$0] }
    if let name = model.operations.get {
      let arguments = key.map { "\($0.name): \(Self.named($0))!" }.joined(separator: " ")
      query.append("\(name)(\(arguments)): \(model.name)")
      operations[FieldPath("Query", name)] = .get(model: model.number)
    }
    if let name = model.operations.list {
      var arguments = ""
      let hasDefaultKey = key.count == 1 && key[0].name == "id"
      if !hasDefaultKey, let hash = key.first {
        arguments = "\(hash.name): \(Self.named(hash)) "
        if let sort = sortArgument(model, Array(model.primaryKey.dropFirst()), prefix: "\(type)Primary") {
          arguments += sort + " "
        }
        arguments += "sortDirection: ModelSortDirection "
      }
      query.append("\(name)(\(arguments)\(Self.paging(type))): \(connection)")
      operations[FieldPath("Query", name)] = .list(model: model.number)
    }
    if let name = model.operations.sync {
      query.append("\(name)(\(Self.paging(type)) lastSync: AWSTimestamp): \(connection)")
      operations[FieldPath("Query", name)] = .sync(model: model.number)
    }
    for (position, index) in model.indexes.enumerated() {
      guard let name = index.queryField else { continue }
      let hash = model.fields[index.fields[0]]
      var arguments = "\(hash.name): \(Self.named(hash))! "
      let prefix = type + ModelNames.capitalized(index.name)
      if let sort = sortArgument(model, Array(index.fields.dropFirst()), prefix: prefix) { arguments += sort + " " }
      query.append("\(name)(\(arguments)sortDirection: ModelSortDirection \(Self.paging(type))): \(connection)")
      operations[FieldPath("Query", name)] = .listByIndex(model: model.number, index: position)
    }
  }

  /// What a connection of a versioned model has besides. `startedAt` is AppSync's; the others are for clients that
  /// order by positions of the log, and that show how far a sync is.
  private static let syncFields = """
     "When the sync began, in milliseconds: what the next one passes as lastSync." startedAt: AWSTimestamp
     "The position of the log that the page shows." cursor: String
     "Whether the pages have all records, so that one that is in none of them is gone." isReplacement: Boolean
     "How many records the pages have in all; said on the first page of all records, where counting is cheap." expected: Int
    """

  static func paging(_ type: String) -> String {
    "filter: Model\(type)FilterInput limit: Int nextToken: String"
  }

  /// The argument that narrows a sort key; composite keys get inputs of their own.
  mutating func sortArgument(_ model: ModelDefinition, _ fields: [Int], prefix: String) -> String? {
    guard let first = fields.first else { return nil }
    let name = Self.sortArgumentName(model, fields)
    guard fields.count > 1 else {
      return "\(name): Model\(Self.base(model.fields[first]))KeyConditionInput"
    }
    let members = fields.map { "\(model.fields[$0].name): \(Self.named(model.fields[$0]))" }.joined(separator: " ")
    let input = "Model\(prefix)CompositeKeyInput"
    let condition = "Model\(prefix)CompositeKeyConditionInput"
    if !types.contains(where: { $0.hasPrefix("input \(input) ") }) {
      types.append("input \(input) { \(members) }")
      types.append(
        "input \(condition) { eq: \(input) le: \(input) lt: \(input) ge: \(input) gt: \(input) between: [\(input)] beginsWith: \(input) }"
      )
    }
    return "\(name): \(condition)"
  }

  static func sortArgumentName(_ model: ModelDefinition, _ fields: [Int]) -> String {
    ModelNames.uncapitalized(fields.map { ModelNames.capitalized(model.fields[$0].name) }.joined())
  }

  private mutating func generateMutations(_ model: ModelDefinition) {
    let type = ModelNames.capitalized(model.name)
    let names: [(String?, String, BuiltInOperation)] = [
      (model.operations.create, "Create", .create(model: model.number)),
      (model.operations.update, "Update", .update(model: model.number)),
      (model.operations.delete, "Delete", .delete(model: model.number)),
    ]
    for (name, verb, operation) in names {
      guard let name else { continue }
      mutation.append("\(name)(input: \(verb)\(type)Input! condition: Model\(type)ConditionInput): \(model.name)")
      operations[FieldPath("Mutation", name)] = operation
    }
  }

  private mutating func generateSubscriptions(_ model: ModelDefinition) {
    let type = ModelNames.capitalized(model.name)
    let names: [(String?, BuiltInOperation.SubscriptionSource.Event)] = [
      (model.operations.onCreate, .create), (model.operations.onUpdate, .update), (model.operations.onDelete, .delete),
    ]
    let owners = model.access.listeningOwnerFields.map { field in
      BuiltInOperation.SubscriptionSource.Equality(argument: model.fields[field].name, field: field)
    }
    // A field that is called like the other argument can be filtered by that.
    .filter { $0.argument != "filter" }
    let arguments = owners.map { ", \($0.argument): String" }.joined()
    for (name, event) in names {
      guard let name else { continue }
      subscription.append("\(name)(filter: ModelSubscription\(type)FilterInput\(arguments)): \(model.name)")
      operations[FieldPath("Subscription", name)] = .subscribe(
        BuiltInOperation.SubscriptionSource(
          model: model.number, events: [event], filter: .filterArgument, owners: owners))
    }
  }

  mutating func add(_ operation: BuiltInOperation, at path: FieldPath) {
    operations[path] = operation
  }

  // MARK: Inputs

  private mutating func generateInputs(_ model: ModelDefinition) {
    let type = ModelNames.capitalized(model.name)
    let writable = model.fields.enumerated().map { position, field in
      let isManaged =
        position == model.createdAt || position == model.updatedAt
        || (model.primaryKey == [position] && field.name == "id")
      let isRequired = field.isRequired && field.defaultValue == nil && !isManaged
      return "\(field.name): \(inputType(field))\(isRequired ? "!" : "")"
    }
    let version = model.conflicts == nil ? "" : " _version: Int"
    types.append("input Create\(type)Input { \(writable.joined(separator: " "))\(version) }")
    let updated = model.fields.enumerated().map { position, field in
      "\(field.name): \(inputType(field))\(model.primaryKey.contains(position) ? "!" : "")"
    }
    types.append("input Update\(type)Input { \(updated.joined(separator: " "))\(version) }")
    let key = model.primaryKey.map { "\(model.fields[$0].name): \(Self.named(model.fields[$0]))!" }
    types.append("input Delete\(type)Input { \(key.joined(separator: " "))\(version) }")
    let deleted = model.conflicts == nil ? "" : " _deleted: ModelBooleanInput"

    let filters = model.fields.compactMap { field in filterInput(field).map { "\(field.name): \($0)" } }
    let filterName = "Model\(type)FilterInput"
    types.append(
      "input \(filterName) { \(filters.joined(separator: " "))\(deleted) and: [\(filterName)] or: [\(filterName)] not: \(filterName) }"
    )
    let conditions = model.fields.enumerated().compactMap { position, field in
      model.primaryKey.contains(position) ? nil : filterInput(field).map { "\(field.name): \($0)" }
    }
    let conditionName = "Model\(type)ConditionInput"
    types.append(
      "input \(conditionName) { \(conditions.joined(separator: " "))\(deleted) and: [\(conditionName)] or: [\(conditionName)] not: \(conditionName) }"
    )
    let live = model.fields.compactMap { field in subscriptionInput(field).map { "\(field.name): \($0)" } }
    let liveName = "ModelSubscription\(type)FilterInput"
    types.append("input \(liveName) { \(live.joined(separator: " ")) and: [\(liveName)] or: [\(liveName)] }")
  }

  private mutating func filterInput(_ field: ModelField) -> String? {
    switch field.kind {
    case .embedded: return nil
    case .scalar:
      let base = Self.base(field)
      guard field.isList, let name = ListInputs.name(base) else { return "Model\(base)Input" }
      lists.insert(base)
      return name
    case .enumeration(let name, _):
      if field.isList { enumLists.insert(name) } else { enums.insert(name) }
      return field.isList ? "Model\(name)ListInput" : "Model\(name)Input"
    }
  }

  private func subscriptionInput(_ field: ModelField) -> String? {
    switch field.kind {
    case .embedded: nil
    case .scalar:
      (field.isList ? ListInputs.subscriptionName(Self.base(field)) : nil)
        ?? "ModelSubscription\(Self.base(field))Input"
    case .enumeration: "ModelSubscriptionStringInput"
    }
  }

  private func inputType(_ field: ModelField) -> String {
    let named =
      switch field.kind {
      case .scalar(let kind): kind.rawValue
      case .enumeration(let name, _): name
      case .embedded(let name): "\(name)Input"
      }
    return field.isList ? "[\(named)\(field.isElementRequired ? "!" : "")]" : named
  }

  /// `String`, `ID`, `Int`, `Float` or `Boolean`: whose operators a field's filters have.
  static func base(_ field: ModelField) -> String {
    field.filterBase?.rawValue ?? "String"
  }

  static func named(_ field: ModelField) -> String {
    switch field.kind {
    case .scalar(let kind): kind.rawValue
    case .enumeration(let name, _), .embedded(let name): name
    }
  }

  private mutating func generateEmbeddedInputs() {
    var wanted: [String] = models.flatMap(\.fields).compactMap {
      if case .embedded(let name) = $0.kind { name } else { nil }
    }
    var made: Set<String> = []
    while let name = wanted.popLast() {
      guard made.insert(name).inserted else { continue }
      for case .type(let type) in document.definitions where type.name.text == name {
        let members = type.fields.map { field in
          let inner = field.type.name.text
          let isEmbedded = isEmbeddedType(inner)
          if isEmbedded { wanted.append(inner) }
          return "\(field.name.text): \(Self.text(field.type, named: isEmbedded ? inner + "Input" : inner))"
        }
        types.append("input \(name)Input { \(members.joined(separator: " ")) }")
      }
    }
  }

  private func isEmbeddedType(_ name: String) -> Bool {
    document.definitions.contains { definition in
      guard case .type(let type) = definition, type.name.text == name, case .object = type.content else { return false }
      return type.directive("model") == nil
    }
  }

  static func text(_ type: TypeReference, named name: String) -> String {
    switch type {
    case .named: name
    case .list(let element, _): "[\(text(element, named: name))]"
    case .nonNull(let inner, _): "\(text(inner, named: name))!"
    }
  }

  // MARK: Changes

  /// `modelChanges(models:filters:)`: what a client with a replica of the versioned models follows.
  private mutating func generateChanges() {
    let versioned = models.filter { $0.conflicts != nil }
    if versioned.isEmpty { return }
    let filters = versioned.map { "\($0.name): Model\(ModelNames.capitalized($0.name))FilterInput" }
    types.append("input ModelChangesFilterInput { \(filters.joined(separator: " ")) }")
    types.append(
      """
      "What a change does to the records that a subscription is about."
      enum ModelChangeEffect {
        "The record is among them now and was not before: the fields are all of the record's." ENTERED
        "The record is among them as before: the fields are those that have changed." STAYED
        "The record is no longer among them, or was deleted." LEFT
      }
      "Fields of a record, by name." scalar ModelValues
      type ModelChange {
        model: String! effect: ModelChangeEffect! key: ModelValues! version: Int! changedAt: AWSTimestamp!
        "The change's place in the log, a decimal number: for transports that carry no cursors." position: String!
        fields: ModelValues
      }
      """)
    subscription.append(
      """
      "The changes of versioned models: of those that are named, or of all." \
      modelChanges(models: [String!] filters: ModelChangesFilterInput): ModelChange
      """)
    operations[FieldPath("Subscription", "modelChanges")] = .changes
  }

  // MARK: The tree

  /// `treeChanged(path:)`, unless the document has a field or a type of that name.
  mutating func generateTree() {
    let isTaken = document.definitions.contains { definition in
      switch definition {
      case .type(let type), .typeExtension(let type):
        type.name.text == "TreeChange"
          || type.name.text == "Subscription" && type.fields.contains { $0.name.text == "treeChanged" }
      default: false
      }
    }
    if isTaken { return }
    types.append(
      """
      "A change of the synced tree."
      type TreeChange {
        "The node that was written; the subscription's own when one above it was." path: String!
        "The node's new value as JSON text; null when it was deleted." value: AWSJSON
      }
      """)
    subscription.append(
      "\"The changes of the synced tree at, above and below a path.\" treeChanged(path: String!): TreeChange")
    operations[FieldPath("Subscription", "treeChanged")] = .treeChanges
  }

  // MARK: Transactions

  /// `transaction(writes:)`: several writes, all or nothing, each a create, update or delete of some model.
  private mutating func generateTransaction() {
    var members: [String] = []
    for model in models {
      let type = ModelNames.capitalized(model.name)
      let verbs = [
        (model.operations.create, "Create"), (model.operations.update, "Update"), (model.operations.delete, "Delete"),
      ]
      for case (let name?, let verb) in verbs { members.append("\(name): \(verb)\(type)Input") }
    }
    guard !members.isEmpty else { return }
    // Rules may hide a record from the caller that wrote it.
    let hidden = models.contains { !$0.access.isEmpty } ? "" : "!"
    types.append("\"One write of a transaction.\" input ModelWriteInput @oneOf { \(members.joined(separator: " ")) }")
    types.append("union ModelRecord = \(models.map(\.name).joined(separator: " | "))")
    mutation.append(
      "\"Makes all writes together, or none of them. Answers the records in the order of the writes.\" transaction(writes: [ModelWriteInput!]!): [ModelRecord\(hidden)]!"
    )
    operations[FieldPath("Mutation", "transaction")] = .transaction
  }
}
