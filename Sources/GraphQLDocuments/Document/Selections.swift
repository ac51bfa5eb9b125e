/// The selections between braces (section 2.4 "Selection Sets"). Its place is the opening brace.
package final class SelectionSet: Equatable, Sendable {
  package let selections: [Selection]
  package let location: Location

  package init(_ selections: [Selection], location: Location = .none) {
    self.selections = selections
    self.location = location
  }

  package static func == (left: SelectionSet, right: SelectionSet) -> Bool {
    left === right || left.selections == right.selections
  }
}

/// One selection. The nodes are objects, so that walking a document copies references only and so that a node can
/// stand for itself in tables.
package enum Selection: Equatable, Sendable {
  case field(Field)
  case fragmentSpread(FragmentSpread)
  case inlineFragment(InlineFragment)

  package var location: Location {
    switch self {
    case .field(let field): field.location
    case .fragmentSpread(let spread): spread.location
    case .inlineFragment(let fragment): fragment.location
    }
  }

  package var directives: [Directive] {
    switch self {
    case .field(let field): field.directives
    case .fragmentSpread(let spread): spread.directives
    case .inlineFragment(let fragment): fragment.directives
    }
  }
}

/// A selected field (section 2.5 "Fields"). Its place is its alias, or its name without one.
package final class Field: Equatable, Sendable {
  package let alias: Name?
  package let name: Name
  package let arguments: [Argument]
  package let directives: [Directive]
  package let selectionSet: SelectionSet?

  package init(
    alias: Name? = nil, name: Name, arguments: [Argument] = [], directives: [Directive] = [],
    selectionSet: SelectionSet? = nil
  ) {
    self.alias = alias
    self.name = name
    self.arguments = arguments
    self.directives = directives
    self.selectionSet = selectionSet
  }

  package var location: Location {
    alias?.location ?? name.location
  }

  /// The name of the field in the response.
  package var responseName: String {
    alias?.text ?? name.text
  }

  package static func == (left: Field, right: Field) -> Bool {
    left === right
      || (left.alias == right.alias && left.name == right.name && left.arguments == right.arguments
        && left.directives == right.directives && left.selectionSet == right.selectionSet)
  }
}

/// A use of a named fragment: `...Name`. Its place is the dots.
package final class FragmentSpread: Equatable, Sendable {
  package let name: Name
  package let directives: [Directive]
  package let location: Location

  package init(name: Name, directives: [Directive] = [], location: Location = .none) {
    self.name = name
    self.directives = directives
    self.location = location
  }

  package static func == (left: FragmentSpread, right: FragmentSpread) -> Bool {
    left === right || (left.name == right.name && left.directives == right.directives)
  }
}

/// A fragment written in place: `... on Type { }`. Its place is the dots.
package final class InlineFragment: Equatable, Sendable {
  package let typeCondition: Name?
  package let directives: [Directive]
  package let selectionSet: SelectionSet
  package let location: Location

  package init(
    typeCondition: Name? = nil, directives: [Directive] = [], selectionSet: SelectionSet, location: Location = .none
  ) {
    self.typeCondition = typeCondition
    self.directives = directives
    self.selectionSet = selectionSet
    self.location = location
  }

  package static func == (left: InlineFragment, right: InlineFragment) -> Bool {
    left === right
      || (left.typeCondition == right.typeCondition && left.directives == right.directives
        && left.selectionSet == right.selectionSet)
  }
}
