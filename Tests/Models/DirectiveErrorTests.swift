import MartletGraphQLLanguage
import MartletModelSDL
import MartletModels
import Testing

@Suite struct DirectiveErrorTests {
  @Test(arguments: [
    ("type Query @model { id: ID! }", "root type"),
    ("type A @model { id: Int! }", "must be ID! or String!"),
    ("type A @model { a: ID! @primaryKey b: ID! @primaryKey }", "more than one @primaryKey"),
    ("type A @model { a: ID @primaryKey }", "must not be nullable"),
    ("type A @model { a: ID! @primaryKey(sortKeyFields: [\"none\"]) }", "not a stored field"),
    ("type A @model { a: [ID!]! @primaryKey }", "is a list"),
    ("type A @model { id: ID! e: E! @index } type E { x: Int }", "embedded type"),
    ("type A @model { id: ID! a: ID! @index(sortKeyFields: [\"a\"]) }", "twice"),
    ("type A @model { id: ID! a: ID @index(name: \"x\") b: ID @index(name: \"x\") }", "two indexes"),
    ("type A @model { id: ID! a: Int @default(value: \"one\") }", "is not of type Int"),
    ("type A @model { id: ID! a: C @default(value: \"RED\") } enum C { BLUE }", "not a value of C"),
    ("type A @model { id: ID! a: Int @validate(type: minLength, value: \"2\") }", "does not fit"),
    ("type A @model { id: ID! a: Int @validate(type: gt, value: \"two\") }", "needs a number"),
    ("type A @model { id: ID! a: String @validate(type: matches, value: \"(\") }", "not a regular expression"),
    ("type A @model { id: ID! createdAt: Int }", "AWSDateTime"),
    ("type A @model { id: ID! b: B @hasOne } type B { x: Int }", "not a model"),
    ("type A @model { id: ID! b: B @hasMany } type B @model { id: ID! }", "must be a list"),
    ("type A @model { id: ID! b: [B] @belongsTo } type B @model { id: ID! }", "cannot be a list"),
    ("type A @model { id: ID! n: Int b: B @hasOne(fields: [\"n\"]) } type B @model { id: ID! }", "another type"),
    ("type A @model { id: ID! b: [B] @manyToMany(relationName: \"AB\") } type B @model { id: ID! }", "on each of two"),
    ("type A @model { id: ID! a: [[Int]] }", "list of lists"),
    ("type A @model { id: ID! a(x: Int): Int }", "no arguments"),
    ("type A @model(colour: \"red\") { id: ID! }", "colour"),
    (
      "type A @model { id: ID! } type Subscription { s(q: ID): A @aws_subscribe(mutations: [\"createA\"]) }",
      "not a field of A"
    ),
    (
      "type A @model { id: ID! } type Subscription { s: A @aws_subscribe(mutations: [\"getA\"]) }",
      "not a mutation of A"
    ),
    ("type A @model @auth(rules: [{ allow: nobody }]) { id: ID! }", "nobody"),
    ("type Query { a: Int @auth(rules: [{ allow: private }]) }", "Query.a has @auth"),
    ("type A @auth(rules: [{ allow: private }]) { a: Int } type Query { a: A }", "A has @auth"),
  ])
  func `a mistake is named with its place`(source: String, part: String) {
    let error = #expect(throws: ModelSchemaError.self, "\(source)") { try ModelSchema(source) }
    #expect(error?.errors.contains { $0.message.contains(part) && !$0.locations.isEmpty } == true, "\(error as Any)")
  }
}
