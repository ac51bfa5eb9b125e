import MartletGraphQLLanguage

/// The Swift names of everything that is written at the top level, and of the leaf types of fields.
struct TypeNames {
  let configuration: GeneratorConfiguration
  /// Names that nested types keep away from, because code inside the enclosing type means others by them.
  private var taken = SwiftName.takenTypes
  /// Swift types of custom scalars.
  private let scalars: Set<String>
  private var claimed: [String: String] = [:]
  private(set) var errors: [GenerationError] = []

  init(configuration: GeneratorConfiguration) {
    self.configuration = configuration
    // Of a name with dots the first part is what a nested type could hide.
    scalars = Set(configuration.scalars.values.map { String($0.type.prefix { $0 != "." }) })
    taken.formUnion(scalars)
  }

  /// `ReviewAdded` of a subscription -> `ReviewAddedSubscription`.
  func operation(_ operation: OperationDefinition, name: String) -> String {
    let base = SwiftName.type(name)
    let suffix = SwiftName.capitalised(operation.kind.rawValue)
    return base.hasSuffix(suffix) && base != suffix ? base : base + suffix
  }

  func fragment(_ name: String) -> String { SwiftName.type(name) }

  /// The name of an enum or input object.
  func schemaType(_ name: String) -> String {
    configuration.typeNames[name] ?? SwiftName.type(name)
  }

  /// The Swift type of a scalar or enum.
  func leaf(_ type: NamedType) -> String {
    switch type.kind {
    case .scalar: configuration.scalar(type.name).type
    case .enumeration, .inputObject, .object, .interface, .union: schemaType(type.name)
    }
  }

  /// The name of a property or case: one that hides no type the code around it means.
  func property(_ name: String) -> String {
    taken.contains(name) ? name + "_" : SwiftName.property(name)
  }

  /// A name for a type inside another: one that hides nothing the generated code means.
  func nested(_ name: String) -> String {
    taken.contains(name) ? name + "Field" : name
  }

  /// Reserves a top-level name for `what`, such as "the enum Episode".
  mutating func claim(_ name: String, for what: String, rename: String, _ error: (String) -> GenerationError) {
    if SwiftName.takenTypes.contains(name) {
      errors.append(error("\(what) would be the Swift type '\(name)', which generated code needs. \(rename)"))
    } else if scalars.contains(name) {
      errors.append(error("\(what) would be the Swift type '\(name)', which a scalar is mapped to. \(rename)"))
    } else if let other = claimed[name] {
      errors.append(error("\(what) and \(other) would both be the Swift type '\(name)'. \(rename)"))
    } else {
      claimed[name] = what
    }
    taken.insert(name)
  }
}
