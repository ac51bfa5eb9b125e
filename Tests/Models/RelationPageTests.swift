import MartletGraphQLLanguage
import MartletModelSDL
import MartletModels
import Testing

/// The page sizes of relations, as clients see them and as the estimated cost of an operation counts them.
@Suite struct RelationPageTests {
  private static let schema = """
    type Customer @model { id: ID! name: String! orders: [Order] @hasMany(limit: 20) notes: [Note] @hasMany }
    type Order @model { id: ID! day: AWSDate! lines: [Line] @hasMany(limit: 25) }
    type Line @model { id: ID! product: String! count: Int! }
    type Note @model { id: ID! text: String! }
    """

  private func cost(_ source: String) throws -> Int {
    let document = try Parser.parse(source)
    return OperationCost.estimate(
      try #require(document.operations.first), in: document, schema: try ModelSchema(Self.schema).schema)
  }

  @Test func `a declared page size is the default of the relation's limit`() throws {
    let schema = try ModelSchema(Self.schema).schema
    let customer = try #require(schema.type("Customer"))
    #expect(customer.field("orders")?.argument("limit")?.defaultValue.map(Printer.text) == "20")
    #expect(customer.field("notes")?.argument("limit")?.defaultValue == nil)
  }

  @Test func `a declared page size counts as often as its page has items`() throws {
    #expect(try cost("{ getCustomer(id: 1) { orders { items { id } } } }") == 1 + 1 + 1 + 20)
    #expect(try cost("{ getCustomer(id: 1) { orders(limit: 5) { items { id } } } }") == 1 + 1 + 1 + 5)
    #expect(
      try cost("{ getCustomer(id: 1) { notes { items { id } } } }") == 1 + 1 + 1 + OperationCost.assumedListLength)
  }

  @Test func `an ordinary list of three levels passes the default bound`() throws {
    let query = """
      { listCustomers(limit: 100) { items { name orders { items { day lines { items { product count } } } } } } }
      """
    #expect(try cost(query) > 100 * 20 * 25 * 2)
    #expect(try cost(query) < ValidationLimits().complexity)
    let errors = Validator.validate(try Parser.parse(query), against: try ModelSchema(Self.schema).schema)
    #expect(errors.isEmpty)
  }
}
