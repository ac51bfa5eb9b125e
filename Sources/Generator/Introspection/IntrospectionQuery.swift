/// What to ask a server for its schema.
package enum IntrospectionQuery {
  /// Asks only for what every server answers: `isOneOf`, `isRepeatable` and deprecated inputs came later, and a server
  /// that does not know them refuses the whole query.
  package static let document = text(
    inputs: "args { ...Input }", inputFields: "inputFields { ...Input }", type: "", input: "", repeatable: "")

  /// Asks for deprecated inputs, `@oneOf` and repeatable directives too.
  package static let fullDocument = text(
    inputs: "args(includeDeprecated: true) { ...Input }",
    inputFields: "inputFields(includeDeprecated: true) { ...Input }", type: "isOneOf",
    input: "isDeprecated deprecationReason", repeatable: "isRepeatable")

  private static func text(
    inputs: String, inputFields: String, type: String, input: String, repeatable: String
  ) -> String {
    """
    query Introspection {
      __schema {
        queryType { name }
        mutationType { name }
        subscriptionType { name }
        types { ...Definition }
        directives { name description locations \(repeatable) \(inputs) }
      }
    }
    fragment Definition on __Type {
      kind name description \(type)
      fields(includeDeprecated: true) {
        name description isDeprecated deprecationReason type { ...Reference } \(inputs)
      }
      \(inputFields)
      interfaces { name }
      enumValues(includeDeprecated: true) { name description isDeprecated deprecationReason }
      possibleTypes { name }
    }
    fragment Input on __InputValue { name description defaultValue type { ...Reference } \(input) }
    fragment Reference on __Type {
      kind name ofType { kind name ofType { kind name ofType { kind name ofType {
        kind name ofType { kind name ofType { kind name ofType { kind name ofType { kind name } } } }
      } } } }
    }
    """
  }
}
