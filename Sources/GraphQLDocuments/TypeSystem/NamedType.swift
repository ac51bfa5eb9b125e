/// A type of a schema, resolved: extensions merged, references replaced by `TypeID`s.
package final class NamedType: Sendable {
  package let id: TypeID
  package let name: String
  package let kind: TypeKind
  package let description: String?
  /// Output fields of an object or interface, in order of definition.
  package let fields: [SchemaField]
  /// Interfaces that an object or interface implements.
  package let interfaces: [TypeID]
  /// The members of a union, the objects that implement an interface, or the object itself.
  package let possibleTypes: [TypeID]
  package let enumValues: [SchemaEnumValue]
  /// Fields of an input object.
  package let inputFields: [SchemaInput]
  /// Whether an input object takes exactly one of its fields (`@oneOf`).
  package let isOneOf: Bool
  /// Where a custom scalar is specified (`@specifiedBy`).
  package let specifiedByURL: String?
  /// All directives applied to the definition and its extensions.
  package let appliedDirectives: [Directive]
  /// The definition as written; nil for types that every schema has.
  package let definition: TypeDefinition?
  /// The extensions that were merged into the type.
  package let extensions: [TypeDefinition]

  private let fieldTable: [String: Int]
  private let inputTable: [String: Int]
  private let enumTable: [String: Int]
  private let possibleSet: TypeSet

  init(
    id: TypeID, name: String, kind: TypeKind, description: String?, fields: [SchemaField] = [],
    interfaces: [TypeID] = [], possibleTypes: [TypeID] = [], enumValues: [SchemaEnumValue] = [],
    inputFields: [SchemaInput] = [], appliedDirectives: [Directive] = [], definition: TypeDefinition?,
    extensions: [TypeDefinition]
  ) {
    self.id = id
    self.name = name
    self.kind = kind
    self.description = description
    self.fields = fields
    self.interfaces = interfaces
    self.possibleTypes = possibleTypes
    self.enumValues = enumValues
    self.inputFields = inputFields
    self.appliedDirectives = appliedDirectives
    self.definition = definition
    self.extensions = extensions
    isOneOf = kind == .inputObject && appliedDirectives.contains { $0.name.text == "oneOf" }
    specifiedByURL =
      kind == .scalar
      ? appliedDirectives.first { $0.name.text == "specifiedBy" }?.argument("url")?.stringText : nil
    fieldTable = Self.table(fields.map(\.name))
    inputTable = Self.table(inputFields.map(\.name))
    enumTable = Self.table(enumValues.map(\.name))
    possibleSet = TypeSet(possibleTypes)
  }

  /// The output field called `name`, without the meta fields (see `Schema.field`).
  package func field(_ name: String) -> SchemaField? {
    fieldTable[name].map { fields[$0] }
  }

  /// The input field called `name`.
  package func inputField(_ name: String) -> SchemaInput? {
    inputTable[name].map { inputFields[$0] }
  }

  /// The enum value called `name`.
  package func enumValue(_ name: String) -> SchemaEnumValue? {
    enumTable[name].map { enumValues[$0] }
  }

  /// Whether the object `id` is this type, implements it or is a member of it.
  package func includes(_ object: TypeID) -> Bool {
    possibleSet.contains(object)
  }

  /// Whether some object belongs to both types.
  package func overlaps(_ other: NamedType) -> Bool {
    self === other || possibleSet.intersects(other.possibleSet)
  }

  /// Whether the type can be the type of an argument or input field.
  package var isInput: Bool {
    switch kind {
    case .scalar, .enumeration, .inputObject: true
    case .object, .interface, .union: false
    }
  }

  /// Whether the type can be the type of a field.
  package var isOutput: Bool { kind != .inputObject }

  /// Whether selections can be made on the type.
  package var isComposite: Bool {
    switch kind {
    case .object, .interface, .union: true
    case .scalar, .enumeration, .inputObject: false
    }
  }

  /// Whether the type stands for several objects.
  package var isAbstract: Bool { kind == .interface || kind == .union }

  /// Whether values of the type have no fields.
  package var isLeaf: Bool { kind == .scalar || kind == .enumeration }

  /// Whether the type belongs to introspection.
  package var isIntrospection: Bool { name.utf8.starts(with: "__".utf8) }

  private static func table(_ names: [String]) -> [String: Int] {
    Dictionary(names.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
  }
}

/// A set of types as bits.
struct TypeSet: Sendable {
  private var words: [UInt64] = []

  init(_ types: [TypeID]) {
    for type in types {
      let word = type.index / 64
      if word >= words.count { words.append(contentsOf: repeatElement(0, count: word + 1 - words.count)) }
      words[word] |= 1 << UInt64(type.index % 64)
    }
  }

  func contains(_ type: TypeID) -> Bool {
    let word = type.index / 64
    return word < words.count && words[word] >> UInt64(type.index % 64) & 1 == 1
  }

  func intersects(_ other: TypeSet) -> Bool {
    for index in 0..<min(words.count, other.words.count) where words[index] & other.words[index] != 0 { return true }
    return false
  }
}

extension Value {
  /// The text of a string value; nil for other values.
  package var stringText: String? {
    if case .string(let string) = kind { string.text } else { nil }
  }
}
