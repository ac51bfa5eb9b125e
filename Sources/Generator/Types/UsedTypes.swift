import MartletGraphQLLanguage

/// The enums and input objects that operations reach; no others are written.
struct UsedTypes {
  private(set) var enums: [NamedType] = []
  private(set) var inputs: [NamedType] = []
  /// Enums in positions that distinguish null from absent, where `.jedi` should mean `.some(.jedi)`.
  private(set) var nullableEnums: Set<TypeID> = []
  /// Enums that models store.
  private var stored: Set<TypeID> = []
  private var seen: Set<TypeID> = []
  private let schema: Schema

  init(schema: Schema) {
    self.schema = schema
  }

  /// A variable or input field.
  mutating func add(input type: WrappedType, hasDefault: Bool) {
    let named = schema[type.named]
    if named.kind == .enumeration, type.isNamed, !type.isNonNull { nullableEnums.insert(named.id) }
    switch named.kind {
    case .enumeration: add(enumeration: named)
    case .inputObject:
      guard seen.insert(named.id).inserted else { return }
      inputs.append(named)
      for field in named.inputFields { add(input: field.type, hasDefault: field.defaultValue != nil) }
    case .scalar, .object, .interface, .union: break
    }
  }

  /// An enum in a field of a model.
  mutating func add(stored type: NamedType) {
    stored.insert(type.id)
    add(enumeration: type)
  }

  private mutating func add(enumeration type: NamedType) {
    if seen.insert(type.id).inserted { enums.append(type) }
  }

  /// The leaf types in selections, wherever they are.
  mutating func add(_ set: SelectionSet, on parent: NamedType) {
    for selection in set.selections {
      switch selection {
      case .field(let field):
        guard let definition = schema.field(field.name.text, on: parent) else { continue }
        let type = schema[definition.type.named]
        if type.kind == .enumeration { add(enumeration: type) }
        if let inner = field.selectionSet { add(inner, on: type) }
      case .inlineFragment(let fragment):
        add(fragment.selectionSet, on: fragment.typeCondition.flatMap { schema.type($0.text) } ?? parent)
      case .fragmentSpread: break
      }
    }
  }

  /// Order of names, so that the order of files does not show.
  var sortedEnums: [NamedType] { enums.sorted { $0.name < $1.name } }
  var storedEnums: [NamedType] { sortedEnums.filter { stored.contains($0.id) } }
  var sortedInputs: [NamedType] { inputs.sorted { $0.name < $1.name } }
}
