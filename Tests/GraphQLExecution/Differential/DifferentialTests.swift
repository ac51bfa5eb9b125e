import Foundation
import MartletGraphQLExecution
import MartletGraphQLLanguage
import MartletJSON
import Testing

/// The same documents, variables and resolvers as graphql-core had: the same verdicts, rules, places and responses.
struct DifferentialTests {
  struct Case: Sendable {
    var expectation: Expectation
    var schema: ExecutableSchema
  }

  @Test func `every generated document gets the verdict, errors and response that graphql-core gave`() async throws {
    let differences = try Differences.committed()
    let cases = try cases()
    #expect(cases.count >= 10_000)
    let half = cases.count / 2
    async let first = mismatches(in: cases[..<half], differences)
    async let second = mismatches(in: cases[half...], differences)
    let (found, used) = await (first.found + second.found, first.used.union(second.used))
    if let path = ProcessInfo.processInfo.environment["MARTLET_DIFFERENTIAL_REPORT"] {
      try found.joined(separator: "\n\n").write(toFile: path, atomically: true, encoding: .utf8)
    }
    #expect(found.isEmpty, "\(found.count) documents differ, first:\n\(found.prefix(3).joined(separator: "\n\n"))")
    #expect(Set(differences.names).subtracting(used).isEmpty, "a listed difference no longer occurs")
  }

  private func cases() throws -> [Case] {
    var schemas: [String: ExecutableSchema] = [:]
    return try Expectation.all().map { expectation in
      if let known = schemas[expectation.schema] { return Case(expectation: expectation, schema: known) }
      let schema = try Schema.build(try Expectation.schemaText(expectation.schema))
      var limits = ExecutionLimits()
      limits.errors = 10_000
      // Variables ask for lists of any length.
      limits.complexity = .max
      let made = try ExecutableSchema(
        schema, resolvers: DeterministicResolvers(schema: schema).resolvers, limits: limits)
      schemas[expectation.schema] = made
      return Case(expectation: expectation, schema: made)
    }
  }

  @concurrent
  private func mismatches(
    in cases: ArraySlice<Case>, _ differences: Differences
  ) async -> (found: [String], used: Set<String>) {
    var found: [String] = []
    var used: Set<String> = []
    for item in cases {
      if let text = await mismatch(item, differences, &used) { found.append(text) }
    }
    return (found, used)
  }

  private func mismatch(_ item: Case, _ differences: Differences, _ used: inout Set<String>) async -> String? {
    let expectation = item.expectation
    let actual = await answer(item)
    func text(_ expected: String, _ actual: String) -> String {
      "#\(expectation.number) \(expectation.schema)\n\(expectation.document)\nvariables \(JSONValue.object(expectation.variables))"
        + "\nexpected \(expected)\nactual   \(actual)"
    }
    switch (expectation.faults, actual) {
    case (let expected?, .faults(let faults)):
      var (expected, actual) = (expected, faults)
      differences.adjust(&expected, &actual, &used)
      let order = { (a: Expectation.Fault, b: Expectation.Fault) in a.description < b.description }
      let (left, right) = (expected.sorted(by: order), actual.sorted(by: order))
      return left == right ? nil : text("\(left)", "\(right)")
    case (nil, .response(let response)):
      var (expected, actual) = (expectation.response ?? .null, response)
      differences.adjust(&expected, &actual, &used)
      return JSONComparison.isSame(expected, actual) ? nil : text("\(expected)", "\(actual)")
    case (let expected?, .response(let response)):
      return text("\(expected)", "valid: \(response)")
    case (nil, .faults(let faults)):
      if differences.explains(faults, &used) { return nil }
      return text("valid: \(expectation.response ?? .null)", "\(faults)")
    }
  }

  private enum Answer {
    case faults([Expectation.Fault])
    case response(JSONValue)
  }

  private func answer(_ item: Case) async -> Answer {
    let document: Document
    do {
      document = try Parser.parse(item.expectation.document)
    } catch {
      return .faults([fault("Syntax", error.graphQLError)])
    }
    // The limits are this project's own; here only the rules count.
    let limits = ValidationLimits(errors: 10_000, introspectionDepth: 100, complexity: .max)
    let errors = Validator.validate(document, against: item.schema.schema, limits: limits)
    guard errors.isEmpty else { return .faults(errors.map { fault($0.rule ?? "", $0) }) }
    let result: ResponseTree
    do {
      let plan = try item.schema.plan(document, operationName: item.expectation.operation)
      result = await plan.execute(variables: item.expectation.variables)
    } catch {
      result = .requestError([error])
    }
    guard let response = try? JSONValue(parsing: result.bytes) else { return .response("unreadable") }
    return .response(response)
  }

  private func fault(_ rule: String, _ error: GraphQLError) -> Expectation.Fault {
    Expectation.Fault(
      rule: rule, message: Expectation.normalized(error.message), places: error.locations.map { [$0.line, $0.column] })
  }
}

/// Equality of responses: members in any order, numbers by value.
enum JSONComparison {
  static func isSame(_ left: JSONValue, _ right: JSONValue) -> Bool {
    switch (left, right) {
    case (.array(let left), .array(let right)):
      return left.count == right.count && zip(left, right).allSatisfy { isSame($0, $1) }
    case (.object(let left), .object(let right)):
      return left.count == right.count
        && left.allSatisfy { member in right[member.key].map { isSame(member.value, $0) } ?? false }
    default:
      if let left = left.number, let right = right.number { return left == right }
      return left == right
    }
  }
}
