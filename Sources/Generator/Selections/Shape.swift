import MartletGraphQLLanguage

/// One struct of a result: what the selections on one object, merged, make of it.
///
/// A class, since shapes refer to each other and conversions mark what they read.
final class Shape {
  /// A stored property for one response name.
  struct Member {
    var responseName: String
    /// As Swift may have it, not yet escaped.
    var property: String
    /// The field's type; its named type decides `leaf` or `child`.
    var type: WrappedType
    /// Whether a `@skip`, `@include` or `@defer` on every way to the field may leave it out.
    var isConditional: Bool
    /// The Swift type of a scalar or enum; nil for fields with selections.
    var leaf: String?
    var child: Shape?
    /// Whether `child` is written in the shape around this one, whose field has the same selections.
    var isShared = false
    /// The ways to the field, as identities: equal for fields with the same selections under the same conditions.
    var ways: [Way] = []
    var deprecation: String?

    var isOptional: Bool { isConditional || !type.isNonNull }
  }

  /// One way to a field: the node, and the conditions it stands under.
  struct Way: Hashable {
    var field: ObjectIdentifier
    var conditions: Set<String>
  }

  /// What there is besides when the object is of another type: the property `asDroid`.
  struct TypeCase {
    var type: NamedType
    var property: String
    var shape: Shape
  }

  /// A named fragment that the object satisfies.
  struct Spread {
    var fragment: String
    var isConditional: Bool
    var location: Location
  }

  /// A computed property that makes a fragment's struct of this one.
  struct Conversion {
    var property: String
    var type: String
    /// Properties that must have a value for the fragment to be there.
    var guards: [String]
    /// The value; nil when this struct's parts cannot be made into the fragment's.
    var expression: String?
    var isOptional: Bool
  }

  let name: String
  /// The name with those of the types around it.
  let path: String
  /// The object types it may stand for.
  let scope: Set<TypeID>
  var members: [Member] = []
  var cases: [TypeCase] = []
  var spreads: [Spread] = []
  var conversions: [Conversion] = []
  /// The fragment whose struct serves here too, because nothing else is selected.
  var fragment: String?
  /// Whether generated code mentions its properties by name, in which case marking them deprecated would warn there.
  var isReadByCode = false

  init(name: String, path: String, scope: Set<TypeID>) {
    self.name = name
    self.path = path
    self.scope = scope
  }

  func member(_ responseName: String) -> Member? {
    members.first { $0.responseName == responseName }
  }

  /// The shapes of fields and type cases that are written inside this one.
  var nested: [Shape] {
    members.compactMap { $0.isShared ? nil : $0.child } + cases.map(\.shape)
  }
}
