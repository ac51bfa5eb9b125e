/// What every schema has without writing it.
enum BuiltIn {
  static let defaultDeprecationReason = "No longer supported"

  /// The scalars of section 3.5; a schema has those it refers to.
  static let scalars = ["Int", "Float", "String", "Boolean", "ID"]

  /// The directives of the incremental delivery proposal, for schemas that ask for them.
  static let incrementalDirectives = #"""
    "The fragment's fields may be delivered after the rest of the response."
    directive @defer(
      "Deferred when true; part of the rest when false."
      if: Boolean! = true
      "Names the fragment in the response; unique in the document."
      label: String
    ) on FRAGMENT_SPREAD | INLINE_FRAGMENT
    "The list's later items may be delivered after the rest of the response."
    directive @stream(
      "Streamed when true; delivered whole when false."
      if: Boolean! = true
      "Names the list in the response; unique in the document."
      label: String
      "How many items the first delivery of the list has."
      initialCount: Int! = 0
    ) on FIELD
    """#

  /// Scalars that AppSync's schemas use without defining them.
  static let foreignScalars = """
    scalar AWSDate scalar AWSTime scalar AWSDateTime scalar AWSTimestamp scalar AWSEmail scalar AWSJSON scalar AWSURL
    scalar AWSPhone scalar AWSIPAddress
    """

  /// The built-in scalars, the directives of section 3.13 and the introspection types of section 4.2, in the language
  /// they describe. `MetaFields` holds the fields section 4.1 adds to other types.
  static let source = #"""
    "Whole numbers from -2147483648 to 2147483647."
    scalar Int
    "Numbers of double precision, as IEEE 754 defines them."
    scalar Float
    "Text as a sequence of Unicode scalars."
    scalar String
    "`true` or `false`."
    scalar Boolean
    "A name that is unique for its kind of object. Written as a string, not meant to be read by people."
    scalar ID

    "The field or fragment is part of the selection only when `if` is true."
    directive @include("Included when true." if: Boolean!) on FIELD | FRAGMENT_SPREAD | INLINE_FRAGMENT
    "The field or fragment does not belong to the selection when `if` is true."
    directive @skip("Skipped when true." if: Boolean!) on FIELD | FRAGMENT_SPREAD | INLINE_FRAGMENT
    "The element should no longer be used."
    directive @deprecated(
      "Why, and what to use in its place, in Markdown."
      reason: String! = "No longer supported"
    ) on FIELD_DEFINITION | ARGUMENT_DEFINITION | INPUT_FIELD_DEFINITION | ENUM_VALUE
    "Says where the form and meaning of a custom scalar are specified."
    directive @specifiedBy("The address of the specification." url: String!) on SCALAR
    "The input object takes exactly one of its fields."
    directive @oneOf on INPUT_OBJECT

    type MetaFields {
      "The name of the object's type."
      __typename: String!
      "The type system of this service."
      __schema: __Schema!
      "The type called `name`."
      __type(name: String!): __Type
    }

    "The type system of a service: its types, directives and root types."
    type __Schema {
      description: String
      "All types."
      types: [__Type!]!
      "The root type of queries."
      queryType: __Type!
      "The root type of mutations, if the service has any."
      mutationType: __Type
      "The root type of subscriptions, if the service has any."
      subscriptionType: __Type
      "All directives."
      directives: [__Directive!]!
    }

    "A type: named, or a list or non-null around another one. `kind` says which of the other fields have a value."
    type __Type {
      kind: __TypeKind!
      name: String
      description: String
      specifiedByURL: String
      fields(includeDeprecated: Boolean! = false): [__Field!]
      interfaces: [__Type!]
      possibleTypes: [__Type!]
      enumValues(includeDeprecated: Boolean! = false): [__EnumValue!]
      inputFields(includeDeprecated: Boolean! = false): [__InputValue!]
      ofType: __Type
      isOneOf: Boolean
    }

    "What a `__Type` is."
    enum __TypeKind {
      "A scalar. `specifiedByURL` may have a value."
      SCALAR
      "An object. `fields` and `interfaces` have values."
      OBJECT
      "An interface. `fields`, `interfaces` and `possibleTypes` have values."
      INTERFACE
      "A union. `possibleTypes` has a value."
      UNION
      "An enum. `enumValues` has a value."
      ENUM
      "An input object. `inputFields` and `isOneOf` have values."
      INPUT_OBJECT
      "A list of `ofType`."
      LIST
      "`ofType` without null."
      NON_NULL
    }

    "A field of an object or interface."
    type __Field {
      name: String!
      description: String
      args(includeDeprecated: Boolean! = false): [__InputValue!]!
      type: __Type!
      isDeprecated: Boolean!
      deprecationReason: String
    }

    "An argument of a field or directive, or a field of an input object."
    type __InputValue {
      name: String!
      description: String
      type: __Type!
      "The default as GraphQL text."
      defaultValue: String
      isDeprecated: Boolean!
      deprecationReason: String
    }

    "A value of an enum."
    type __EnumValue {
      name: String!
      description: String
      isDeprecated: Boolean!
      deprecationReason: String
    }

    "A directive."
    type __Directive {
      name: String!
      description: String
      isRepeatable: Boolean!
      "The places where the directive may stand."
      locations: [__DirectiveLocation!]!
      args(includeDeprecated: Boolean! = false): [__InputValue!]!
    }

    "A place where a directive may stand."
    enum __DirectiveLocation {
      QUERY MUTATION SUBSCRIPTION FIELD FRAGMENT_DEFINITION FRAGMENT_SPREAD INLINE_FRAGMENT VARIABLE_DEFINITION
      SCHEMA SCALAR OBJECT FIELD_DEFINITION ARGUMENT_DEFINITION INTERFACE UNION ENUM ENUM_VALUE INPUT_OBJECT
      INPUT_FIELD_DEFINITION
    }
    """#
}
