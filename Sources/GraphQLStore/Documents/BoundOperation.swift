internal import MartletGraphQLDocuments
internal import MartletJSON

/// An operation or fragment with its variables: what to look for in data and records, found out as it is needed.
///
/// `@unchecked Sendable` holds because what changes in it, the selections found out so far, is touched only by the
/// store that made it, inside that store's lock: a `RepeatedOperation` carries its store along, and nothing else leaves
/// it.
final class BoundOperation: @unchecked Sendable {
  /// Where the fields of an operation's root are kept.
  enum Root: Sendable {
    /// As records of their own with this prefix.
    case kept(String)
    /// Nowhere: what a mutation answers is true once.
    case dropped
    /// An object that has a key: the operation is a fragment.
    case object
  }

  let root: Root
  let selection: BoundSelection
  let document: StoredDocument
  let variables: JSONObject
  var hasAddedFields: Bool { !document.added.isEmpty }

  init(_ definition: OperationDefinition, _ document: StoredDocument, variables: JSONObject) {
    switch definition.kind {
    case .query: root = .kept("QUERY_ROOT")
    case .subscription: root = .kept("SUBSCRIPTION_ROOT")
    case .mutation: root = .dropped
    }
    var values = variables
    for variable in definition.variables where values[variable.name.text] == nil {
      if let text = variable.defaultValue { values[variable.name.text] = ArgumentText.value(text, JSONObject()) }
    }
    self.variables = values
    self.document = document
    selection = BoundSelection([definition.selectionSet], isRoot: true)
  }

  init(_ fragment: FragmentDefinition, _ document: StoredDocument, variables: JSONObject) {
    root = .object
    self.variables = variables
    self.document = document
    selection = BoundSelection([fragment.selectionSet], isRoot: false)
  }
}

/// What is selected on an object, whichever type it may turn out to have.
///
/// Confined like the operation it belongs to.
final class BoundSelection {
  let sets: [SelectionSet]
  let isRoot: Bool
  /// The selection for each type met, few in practice.
  private var known: [TypedSelection] = []

  init(_ sets: [SelectionSet], isRoot: Bool) {
    self.sets = sets
    self.isRoot = isRoot
  }

  /// The fields selected on an object of type `typename`.
  ///
  /// - Parameter data: the object as a server sent it, to learn from; nil when reading.
  func fields(on typename: String?, data: JSONObject?, _ context: BindingContext) -> TypedSelection {
    for index in known.indices where known[index].isFor(typename) {
      let found = known[index]
      if found.guessedAt == nil { return found }
      // Data are not judged by what reading guessed.
      if data != nil { break }
      if found.guessedAt == context.binder.knowledge.version { return found }
      known.remove(at: index)
      break
    }
    let made = RecordFieldCollector.collect(self, typename, data, context)
    // What was guessed from data is good for these data only.
    if made.guessedAt == nil || data == nil { known.append(made) }
    return made
  }
}

/// What is selected on objects of one type, merged and in order.
final class TypedSelection {
  /// A selected field; an object, so that looking at it copies one reference.
  final class BoundField {
    let responseKey: String
    let field: CacheField
    /// What is selected on the value; nil for a leaf.
    let selection: BoundSelection?
    /// Whether only the store asked for it.
    let isHidden: Bool
    /// Where the value is kept, when this is the root of an operation.
    let rootKey: CacheKey?

    init(responseKey: String, field: CacheField, selection: BoundSelection?, isHidden: Bool, rootKey: CacheKey?) {
      self.responseKey = responseKey
      self.field = field
      self.selection = selection
      self.isHidden = isHidden
      self.rootKey = rootKey
    }
  }

  let typename: String?
  let fields: [BoundField]
  /// Positions in `fields` in the order in which records keep them.
  let storageOrder: [Int]
  /// Positions of the key fields; nil when the type has none or the document does not ask for all.
  let keyFields: [Int]?
  /// What was known when fragments on unknown types were taken to apply; nil when all types were known.
  let guessedAt: Int?

  init(typename: String?, fields: [BoundField], keyFields: [Int]?, guessedAt: Int?) {
    self.typename = typename
    self.fields = fields
    self.keyFields = keyFields
    self.guessedAt = guessedAt
    storageOrder = fields.indices.sorted { fields[$0].field.hash < fields[$1].field.hash }
  }

  func isFor(_ other: String?) -> Bool {
    guard let typename, let other else { return typename == nil && other == nil }
    return ByteText.isSame(typename, other)
  }

  /// Whether one of these fields is selected here.
  func reads(_ changed: [CacheField]) -> Bool {
    changed.contains { field in fields.contains { $0.field == field } }
  }
}

/// What binding needs to know and may learn. Belongs to one store and is touched inside its lock.
final class Binder {
  let configuration: GraphQLStoreConfiguration
  var knowledge: TypeKnowledge
  /// One object per field name without arguments, for all documents.
  var plainFields: [String: CacheField] = [:]

  init(configuration: GraphQLStoreConfiguration, knowledge: TypeKnowledge) {
    self.configuration = configuration
    self.knowledge = knowledge
  }
}

/// An operation and what binding it needs.
struct BindingContext {
  let operation: BoundOperation
  let binder: Binder
}
