internal import MartletGraphQLLanguage
internal import MartletJSON

/// Finds the fields selected on an object of one type: CollectFields of the specification (section 6.3.2), with
/// fragments on types that nobody knows judged by the data.
struct FieldCollector {
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
    var collector = FieldCollector(typename: typename, isRoot: selection.isRoot, data: data)
    if data != nil, let typename, !selection.isRoot { context.binder.knowledge.saw(object: typename) }
    for set in selection.sets { collector.collect(set, context) }
    return collector.bound(context)
  }

  private mutating func collect(_ set: SelectionSet, _ context: BindingContext) {
    // What is certain first: fragments are judged by what only they ask for.
    var uncertain: [(condition: String, set: SelectionSet)] = []
    for selection in set.selections where isIncluded(selection.directives, context.operation.variables) {
      switch selection {
      case .field(let field): add(field, context)
      case .inlineFragment(let fragment):
        enter(fragment.typeCondition?.text, fragment.selectionSet, &uncertain, context)
      case .fragmentSpread(let spread):
        guard visited.insert(spread.name.text).inserted,
          let fragment = context.operation.document.fragments[spread.name.text]
        else { continue }
        enter(fragment.typeCondition.text, fragment.selectionSet, &uncertain, context)
      }
    }
    for fragment in uncertain where judge(fragment.set, fragment.condition, context) {
      collect(fragment.set, context)
    }
  }

  private mutating func enter(
    _ condition: String?, _ set: SelectionSet, _ uncertain: inout [(condition: String, set: SelectionSet)],
    _ context: BindingContext
  ) {
    guard let condition, !isRoot else { return collect(set, context) }
    switch context.binder.knowledge.belongs(typename, to: condition) {
    case true?: collect(set, context)
    case false?: break
    case nil: uncertain.append((condition, set))
    }
  }

  /// Whether a fragment on a type that nobody knows applies. Reading takes it to apply: what is missing then is asked
  /// for, and the answer tells.
  private mutating func judge(_ set: SelectionSet, _ condition: String, _ context: BindingContext) -> Bool {
    guard let data else {
      isGuessed = true
      return true
    }
    for selection in set.selections {
      guard case .field(let field) = selection, groups[field.responseName] == nil,
        isIncluded(field.directives, context.operation.variables)
      else { continue }
      let isThere = data[field.responseName] != nil
      if let typename { context.binder.knowledge.saw(typename, in: condition, isThere) }
      if typename == nil { isGuessed = true }
      return isThere
    }
    isGuessed = true
    return true
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
