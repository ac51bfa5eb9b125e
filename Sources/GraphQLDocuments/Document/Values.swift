/// A name with its place. Names are ASCII by grammar (section 2.1.9), so text comparison is byte comparison.
package struct Name: Hashable, Sendable {
  package var text: String
  package var location: Location

  package init(_ text: String, location: Location = .none) {
    self.text = text
    self.location = location
  }
}

/// A string as written in a document: a value or a description. Compares by its bytes, not by how it was quoted.
package struct StringValue: Equatable, Sendable {
  /// The meaning of the string: escapes replaced, block indentation removed.
  package var text: String
  /// Whether it was written between triple quotes.
  package var isBlock: Bool
  package var location: Location

  package init(_ text: String, isBlock: Bool = false, location: Location = .none) {
    self.text = text
    self.isBlock = isBlock
    self.location = location
  }

  package static func == (left: StringValue, right: StringValue) -> Bool {
    left.text.utf8.elementsEqual(right.text.utf8)
  }
}

/// An input value as written (section 2.10 "Input Values").
package struct Value: Equatable, Sendable {
  /// The forms a value can have. Numbers keep their text, since their precision is for the scalar to decide.
  package enum Kind: Equatable, Sendable {
    case variable(String)
    case int(String)
    case float(String)
    case string(StringValue)
    case boolean(Bool)
    case null
    case enumeration(String)
    case list([Value])
    case object([ObjectField])
  }

  package var kind: Kind
  package var location: Location

  package init(_ kind: Kind, location: Location = .none) {
    self.kind = kind
    self.location = location
  }

  /// A string value.
  package static func string(_ text: String) -> Value { Value(.string(StringValue(text))) }
  /// A boolean value.
  package static func boolean(_ flag: Bool) -> Value { Value(.boolean(flag)) }
  /// An enum value by name.
  package static func enumeration(_ name: String) -> Value { Value(.enumeration(name)) }
  /// An integer value.
  package static func int(_ number: Int) -> Value { Value(.int(String(number))) }
  /// A list value.
  package static func list(_ values: [Value]) -> Value { Value(.list(values)) }
  /// The null value.
  package static var null: Value { Value(.null) }
}

/// One field of an input object value. Its place is its name's.
package struct ObjectField: Equatable, Sendable {
  package var name: Name
  package var value: Value

  package init(name: Name, value: Value) {
    self.name = name
    self.value = value
  }
}

/// One argument of a field or directive. Its place is its name's.
package struct Argument: Equatable, Sendable {
  package var name: Name
  package var value: Value

  package init(name: Name, value: Value) {
    self.name = name
    self.value = value
  }
}

/// A directive as applied: `@name(arguments)`. Its place is the `@`.
package struct Directive: Equatable, Sendable {
  package var name: Name
  package var arguments: [Argument]
  package var location: Location

  package init(name: Name, arguments: [Argument] = [], location: Location = .none) {
    self.name = name
    self.arguments = arguments
    self.location = location
  }

  /// A directive made by code.
  package init(_ name: String, _ arguments: [(String, Value)] = []) {
    self.init(name: Name(name), arguments: arguments.map { Argument(name: Name($0.0), value: $0.1) })
  }

  /// The value of the argument called `name`, or nil when it is not written.
  package func argument(_ name: String) -> Value? {
    arguments.first { $0.name.text == name }?.value
  }
}

/// A type as written: a name inside list and non-null wrappers (section 2.12 "Type References").
package indirect enum TypeReference: Equatable, Sendable {
  case named(Name)
  case list(TypeReference, Location)
  case nonNull(TypeReference, Location)

  /// The type called `name`.
  package static func named(_ name: String) -> TypeReference { .named(Name(name)) }
  /// A list of `element`.
  package static func list(_ element: TypeReference) -> TypeReference { .list(element, .none) }
  /// `type` without null.
  package static func nonNull(_ type: TypeReference) -> TypeReference { .nonNull(type, .none) }

  /// The name inside all wrappers.
  package var name: Name {
    switch self {
    case .named(let name): name
    case .list(let element, _): element.name
    case .nonNull(let type, _): type.name
    }
  }

  package var location: Location {
    switch self {
    case .named(let name): name.location
    case .list(_, let location): location
    case .nonNull(_, let location): location
    }
  }

  /// Whether null is excluded at the outermost level.
  package var isNonNull: Bool {
    switch self {
    case .named, .list: false
    case .nonNull: true
    }
  }
}
