import MartletGraphQLLanguage

/// Reads bytes as a document. What is read must print to a text that reads back equal; validating it and building a
/// schema from it may fail, but must not trap.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzGraphQL(_ data: UnsafePointer<UInt8>, _ count: Int) -> CInt {
  let bytes = Array(UnsafeBufferPointer(start: data, count: count))
  guard let document = try? Parser.parse(bytes) else { return 0 }
  let again = try? Parser.parse(Printer.text(of: document), limits: .schema)
  precondition(again == document, "a printed document reads back equal")
  if let schema { _ = Validator.validate(document, against: schema) }
  _ = try? Schema.build(from: document)
  return 0
}

private let schema = try? Schema.build(
  """
  interface Node { id: ID! }
  type A implements Node { id: ID! a(i: In, l: [Int!], e: E = X): A b: B }
  type B { c: String u: U }
  union U = A | B
  input In @oneOf { a: Int b: In }
  enum E { X Y }
  type Query { a: A n: Node u: [U!]! }
  type Subscription { s(i: In): A }
  """)
