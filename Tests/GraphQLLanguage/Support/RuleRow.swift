import MartletGraphQLLanguage

/// A document and the errors validation finds in it, each as its rule followed by its places.
struct RuleRow: Sendable, CustomStringConvertible {
  var document: String
  var errors: [String]

  init(_ document: String, _ errors: [String]) {
    self.document = document
    self.errors = errors
  }

  var description: String { document }

  /// The errors of `document` against `schema`, sorted, each once.
  static func errors(of document: String, options: SchemaOptions = SchemaOptions()) throws -> [String] {
    let errors = Validator.validate(
      try Parser.parse(document), against: try Schema.build(schema, options: options))
    return Set(errors.map { ([$0.rule ?? ""] + $0.locations.map(\.description)).joined(separator: " ") }).sorted()
  }

  static let schema = """
    directive @f(a:Int) on FIELD
    directive @rep repeatable on FIELD
    directive @v on VARIABLE_DEFINITION
    directive @q(a:Int!) on QUERY
    interface Node { id: ID! other: Node }
    interface Named implements Node { id: ID! other: Node name(a:Int,b:Int=1): String }
    type A implements Node & Named { id: ID! other: Node name(a:Int,b:Int=1): String x: Int l:[Int] nn:[Int!]! req(a:Int!,b:Int!=1):Int inp(i:In,o:One,e:E,l:[Int],ll:[[Int]],s:String,f:Float,id:ID,b:Boolean,c:Cust):A }
    type B { y: Int a:A name:String! x:String l:Int }
    union U = A | B
    input In { a:Int! b:Int=1 c:[In!] d:E i:In }
    input One @oneOf { a:Int b:String }
    enum E { X Y }
    scalar Cust
    type Query { a: A u:U n:Node b:B }
    type Mutation { m: Int }
    type Subscription { s: Int t(a:Int): A }
    """
}
