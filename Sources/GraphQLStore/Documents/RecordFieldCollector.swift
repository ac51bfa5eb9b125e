internal import MartletGraphQLDocuments
internal import MartletJSON

/// Finds the fields selected on an object of one type: CollectFields of the specification (section 6.3.2), with
/// fragments on unknown types judged by the data.
struct RecordFieldCollector {
  private struct Group {
    let field: Field
    var sets: [SelectionSet]
    var isHidden: Bool
  }

  private let typename: String?
  private let isRoot: Bool
  private let data: JSONObject?
  private var names: [String] = []
  private var groups: [String: Group] = [:]
  private var visited: Set<String> = []
  private var isGuessed = false

  private init(typename: String?, isRoot: Bool, data: JSONObject?) {
    self.typename = typename
    self.isRoot = isRoot
    self.data = data
  }

  static func collect(
    _ selection: BoundSelection, _ typename: String?, _ data: JSONObject?, _ context: BindingContext
  ) -> TypedSelection {
    var collector = RecordFieldCollector(typename: typename, isRoot: selection.isRoot, data: data)
    if data != nil, let typename, !selection.isRoot { context.binder.knowledge.saw(object: typename) }
    for set in selection.sets { collector.collect(set, context) }
    return collector.bound(context)
  }

  /// A fragment on an unknown type.
  private struct Uncertain {
    let condition: String
    let set: SelectionSet
    /// Whether its fields may come later, so that their absence says nothing.
    let isDeferred: Bool
    /// Names in the response that it asks for itself.
    let names: Set<String>
  }

  private mutating func collect(_ set: SelectionSet, _ context: BindingContext) {
    // What is certain first: fragments are judged by what only they ask for.
    var uncertain: [Uncertain] = []
    collect(set, &uncertain, context)
    for (index, fragment) in uncertain.enumerated() {
      var others: Set<String> = []
      for (other, sibling) in uncertain.enumerated() where other != index { others.formUnion(sibling.names) }
      if judge(fragment, others, context) { collect(fragment.set, context) }
    }
  }

  private mutating func collect(
    _ set: SelectionSet, _ uncertain: inout [Uncertain], _ context: BindingContext
  ) {
    for selection in set.selections where isIncluded(selection.directives, context.operation.variables) {
      let (condition, inner): (String?, SelectionSet)
      switch selection {
      case .field(let field):
        add(field, context)
        continue
      case .inlineFragment(let fragment): (condition, inner) = (fragment.typeCondition?.text, fragment.selectionSet)
      case .fragmentSpread(let spread):
        guard visited.insert(spread.name.text).inserted,
          let fragment = context.operation.document.fragments[spread.name.text]
        else { continue }
        (condition, inner) = (fragment.typeCondition.text, fragment.selectionSet)
      }
      switch condition.map({ isRoot ? true : context.binder.knowledge.belongs(typename, to: $0) }) ?? true {
      case true?: collect(inner, &uncertain, context)
      case false?: break
      case nil:
        uncertain.append(
          Uncertain(
            condition: condition ?? "", set: inner,
            isDeferred: selection.directives.contains { $0.name.text == "defer" },
            names: names(in: inner, context)))
      }
    }
  }

  private func names(in set: SelectionSet, _ context: BindingContext) -> Set<String> {
    var names: Set<String> = []
    for case .field(let field) in set.selections
    where isIncluded(field.directives, context.operation.variables) {
      names.insert(field.responseName)
    }
    return names
  }

  /// Whether a fragment on an unknown type applies. A field that it selects and that is not there says no; one
  /// that only it asks for and that is there says yes. Otherwise it is taken to apply: when writing, its fields are
  /// there; when reading, what is missing is fetched, and the answer may decide.
  private mutating func judge(_ fragment: Uncertain, _ others: Set<String>, _ context: BindingContext) -> Bool {
    guard let data else {
      isGuessed = true
      return true
    }
    let own = fragment.names.filter { groups[$0] == nil }
    if !fragment.isDeferred, own.contains(where: { data[$0] == nil }) {
      learn(fragment, false, context)
      return false
    }
    if own.contains(where: { !others.contains($0) && data[$0] != nil }) {
      learn(fragment, true, context)
    } else {
      isGuessed = true
    }
    return true
  }

  private mutating func learn(_ fragment: Uncertain, _ belongs: Bool, _ context: BindingContext) {
    guard let typename else {
      isGuessed = true
      return
    }
    context.binder.knowledge.saw(typename, in: fragment.condition, belongs)
  }

  private mutating func add(_ field: Field, _ context: BindingContext) {
    let name = field.responseName
    let isHidden = context.operation.document.added.contains(ObjectIdentifier(field))
    if groups[name] == nil {
      names.append(name)
      groups[name] = Group(field: field, sets: field.selectionSet.map { [$0] } ?? [], isHidden: isHidden)
    } else {
      if let set = field.selectionSet { groups[name]?.sets.append(set) }
      if !isHidden { groups[name]?.isHidden = false }
    }
  }

  private func bound(_ context: BindingContext) -> TypedSelection {
    var fields: [TypedSelection.BoundField] = []
    fields.reserveCapacity(names.count)
    for name in names {
      guard let group = groups[name] else { continue }
      let field = cacheField(group.field, context)
      var rootKey: CacheKey?
      if isRoot, case .kept(let prefix) = context.operation.root { rootKey = CacheKey(prefix + "." + field.text) }
      fields.append(
        TypedSelection.BoundField(
          responseKey: name, field: field,
          selection: group.sets.isEmpty ? nil : BoundSelection(group.sets, isRoot: false),
          isHidden: group.isHidden, rootKey: rootKey))
    }
    return TypedSelection(
      typename: typename, fields: fields, keyFields: keyFields(fields, context.binder.configuration),
      guessedAt: isGuessed ? context.binder.knowledge.version : nil)
  }

  private func cacheField(_ field: Field, _ context: BindingContext) -> CacheField {
    let text = ArgumentText.field(field, variables: context.operation.variables)
    guard field.arguments.isEmpty else { return CacheField(text) }
    if text == "__typename" { return .typename }
    if let known = context.binder.plainFields[text] { return known }
    let made = CacheField(text)
    // Field names come from the application's documents; a bound all the same.
    if context.binder.plainFields.count >= 10_000 { context.binder.plainFields.removeAll() }
    context.binder.plainFields[text] = made
    return made
  }

  private func keyFields(
    _ fields: [TypedSelection.BoundField], _ configuration: GraphQLStoreConfiguration
  ) -> [Int]? {
    guard let typename, !isRoot else { return nil }
    let names = configuration.keyFields[typename] ?? configuration.defaultKeyFields
    var positions: [Int] = []
    for name in names {
      guard let at = fields.firstIndex(where: { $0.selection == nil && $0.field.text == name }) else { return nil }
      positions.append(at)
    }
    return positions.isEmpty ? nil : positions
  }

  private func isIncluded(_ directives: [Directive], _ variables: JSONObject) -> Bool {
    for directive in directives {
      guard let condition = directive.argument("if") else { continue }
      let holds = ArgumentText.value(condition, variables)?.bool
      if directive.name.text == "skip", holds == true { return false }
      if directive.name.text == "include", holds == false { return false }
    }
    return true
  }
}
