/// A field of an object or interface of a schema.
package final class SchemaField: Sendable {
  /// The position among the fields of its type; -1 for meta fields.
  package let index: Int
  package let name: String
  package let description: String?
  package let arguments: [SchemaInput]
  package let type: WrappedType
  /// Why the field is deprecated; nil when it is not.
  package let deprecationReason: String?
  package let appliedDirectives: [Directive]
  /// The definition as written; nil for fields that every schema has.
  package let definition: FieldDefinition?

  init(index: Int, definition: FieldDefinition, arguments: [SchemaInput], type: WrappedType, isBuiltIn: Bool) {
    self.index = index
    name = definition.name.text
    description = definition.description?.text
    self.arguments = arguments
    self.type = type
    deprecationReason = definition.directives.deprecationReason
    appliedDirectives = definition.directives
    self.definition = isBuiltIn ? nil : definition
  }

  /// The argument called `name`. Arguments are few, so a search is quicker than a table.
  package func argument(_ name: String) -> SchemaInput? {
    for argument in arguments where argument.name == name { return argument }
    return nil
  }
}

/// An argument of a field or directive, or a field of an input object.
package final class SchemaInput: Sendable {
  /// The position among its siblings.
  package let index: Int
  package let name: String
  package let description: String?
  package let type: WrappedType
  package let defaultValue: Value?
  /// Why the input is deprecated; nil when it is not.
  package let deprecationReason: String?
  package let appliedDirectives: [Directive]
  /// The definition as written; nil for inputs that every schema has.
  package let definition: InputValueDefinition?

  init(index: Int, definition: InputValueDefinition, type: WrappedType, isBuiltIn: Bool) {
    self.index = index
    name = definition.name.text
    description = definition.description?.text
    self.type = type
    defaultValue = definition.defaultValue
    deprecationReason = definition.directives.deprecationReason
    appliedDirectives = definition.directives
    self.definition = isBuiltIn ? nil : definition
  }

  /// Whether a request must give a value: no null and no default.
  package var isRequired: Bool { type.isNonNull && defaultValue == nil }
}

/// A value of an enum of a schema.
package final class SchemaEnumValue: Sendable {
  package let index: Int
  package let name: String
  package let description: String?
  package let deprecationReason: String?
  package let appliedDirectives: [Directive]
  package let definition: EnumValueDefinition?

  init(index: Int, definition: EnumValueDefinition, isBuiltIn: Bool) {
    self.index = index
    name = definition.name.text
    description = definition.description?.text
    deprecationReason = definition.directives.deprecationReason
    appliedDirectives = definition.directives
    self.definition = isBuiltIn ? nil : definition
  }
}

/// A directive a schema knows.
package final class SchemaDirective: Sendable {
  package let name: String
  package let description: String?
  package let arguments: [SchemaInput]
  package let isRepeatable: Bool
  package let locations: [DirectiveLocation]
  /// The definition as written; nil for directives that every schema has.
  package let definition: DirectiveDefinition?

  init(definition: DirectiveDefinition, arguments: [SchemaInput], isBuiltIn: Bool) {
    name = definition.name.text
    description = definition.description?.text
    self.arguments = arguments
    isRepeatable = definition.isRepeatable
    locations = definition.locations
    self.definition = isBuiltIn ? nil : definition
  }

  /// The argument called `name`.
  package func argument(_ name: String) -> SchemaInput? {
    for argument in arguments where argument.name == name { return argument }
    return nil
  }
}

extension [Directive] {
  /// The reason given by `@deprecated`, its default included; nil when the directive is not applied.
  var deprecationReason: String? {
    guard let deprecated = first(where: { $0.name.text == "deprecated" }) else { return nil }
    guard let reason = deprecated.argument("reason") else { return BuiltIn.defaultDeprecationReason }
    return reason.stringText
  }
}
