internal import MartletGraphQLLanguage

/// The directives and scalars a model document may use without defining them.
struct Prelude {
  let definitions: [Definition]
  /// The names of the directives. They are for the server; the served schema does not show them.
  let directives: Set<String>

  init() throws(SyntaxError) {
    definitions = try Parser.parse(Self.source, limits: .schema).definitions
    var names: Set<String> = []
    for case .directive(let directive) in definitions { names.insert(directive.name.text) }
    directives = names
  }

  private static let source = #"""
    "Stores the type's values: gives it queries, mutations and subscriptions."
    directive @model(
      queries: ModelQueryMap
      mutations: ModelMutationMap
      subscriptions: ModelSubscriptionMap
      timestamps: ModelTimestamps
    ) on OBJECT
    input ModelQueryMap { get: String list: String }
    input ModelMutationMap { create: String update: String delete: String }
    input ModelSubscriptionMap {
      onCreate: [String] onUpdate: [String] onDelete: [String] level: ModelSubscriptionLevel
    }
    enum ModelSubscriptionLevel { off public on }
    input ModelTimestamps { createdAt: String updatedAt: String }

    "Names the field that identifies a record, and the fields that order records of one value."
    directive @primaryKey(sortKeyFields: [String]) on FIELD_DEFINITION
    "Keeps records in order of this field and the sort key, and lists them by it."
    directive @index(name: String, sortKeyFields: [String], queryField: String) repeatable on FIELD_DEFINITION
    "The field is not stored: a resolver of the program finds its value, from the record and the field's arguments."
    directive @computed on FIELD_DEFINITION
    "What a create without the field stores."
    directive @default(value: String!) on FIELD_DEFINITION
    directive @hasMany(
      indexName: String, fields: [String!], references: [String!], limit: Int = 100, onDelete: ModelDeleteAction
    ) on FIELD_DEFINITION
    "What happens to the children of a record that is deleted; without one they stay as they are."
    enum ModelDeleteAction {
      "The children are deleted in the same write."
      CASCADE
      "A record with children is not deleted."
      RESTRICT
      "The children lose their reference to the record, in the same write."
      SET_NULL
    }
    directive @hasOne(fields: [String!], references: [String!]) on FIELD_DEFINITION
    directive @belongsTo(fields: [String!], references: [String!]) on FIELD_DEFINITION
    directive @manyToMany(relationName: String!, limit: Int = 100) on FIELD_DEFINITION
    "Shows each record's version, and takes writes that name the version they were made on: gives the model a sync query."
    directive @versioned(conflicts: ModelConflictStrategy = AUTOMERGE) on OBJECT
    "What happens to a write that was made on an older version."
    enum ModelConflictStrategy {
      "It is merged with the stored record, field by field."
      AUTOMERGE
      "It is refused, with the stored record."
      OPTIMISTIC_CONCURRENCY
      "Code of the program decides."
      LAMBDA
    }
    "The name the data is stored under, when it differs: keeps the data across a rename."
    directive @mapsTo(name: String!) on OBJECT | FIELD_DEFINITION
    "The name of the table the type reads, when it differs."
    directive @refersTo(name: String!) on OBJECT
    "A check on written values."
    directive @validate(type: ModelValidation!, value: String!, errorMessage: String) repeatable on FIELD_DEFINITION
    enum ModelValidation { gt lt gte lte minLength maxLength startsWith endsWith matches }
    "Who may do what."
    directive @auth(rules: [ModelAuthRule!]!) on OBJECT | FIELD_DEFINITION
    input ModelAuthRule {
      allow: ModelAuthAllow! provider: ModelAuthProvider identityClaim: String groupClaim: String ownerField: String
      groupsField: String groups: [String] operations: [ModelAuthOperation]
    }
    enum ModelAuthAllow { owner groups private public custom }
    enum ModelAuthProvider { apiKey iam identityPool oidc userPools function }
    enum ModelAuthOperation { create update delete read get list sync listen search }
    "The subscription fires when one of these mutations was made."
    directive @aws_subscribe(mutations: [String!]!) on FIELD_DEFINITION

    "A calendar day, `YYYY-MM-DD`, with an optional offset."
    scalar AWSDate
    "A time of day, `hh:mm:ss.sss`, with an optional offset."
    scalar AWSTime
    "A moment, `YYYY-MM-DDThh:mm:ss.sss` with an offset or `Z`."
    scalar AWSDateTime
    "Seconds since 1970."
    scalar AWSTimestamp
    scalar AWSEmail
    "Text that holds a JSON document."
    scalar AWSJSON
    scalar AWSURL
    scalar AWSPhone
    "IPv4 or IPv6, with an optional prefix length."
    scalar AWSIPAddress
    """#
}
