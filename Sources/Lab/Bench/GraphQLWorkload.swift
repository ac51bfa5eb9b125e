import Foundation
import MartletGraphQLExecution
import MartletGraphQLLanguage
import MartletJSON

/// A query of 30 fields: parsed, validated, planned, executed and encoded, with nothing kept and with its plan kept.
enum GraphQLWorkload {
  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  static func run(folder: String, operations: Int) throws {
    let text = try String(contentsOfFile: folder + "/schema.graphql", encoding: .utf8)
    let query = Array(try String(contentsOfFile: folder + "/query.graphql", encoding: .utf8).utf8)
    let data = try JSONValue(parsing: Array(try String(contentsOfFile: folder + "/data.json", encoding: .utf8).utf8))
    let flight = data["flight"] ?? .null
    var resolvers = Resolvers()
    resolvers.use(.builtIn { _ in .value(flight) }, "Query", "flight")
    let schema = try ExecutableSchema(try Schema.build(text), resolvers: resolvers, exposure: .messages)
    let variables: JSONObject = ["id": "f1"]

    func answer(_ plan: OperationPlan) throws -> [UInt8] {
      guard let result = plan.executeSynchronously(variables: variables) else {
        throw Failure(description: "the query could not be executed at once")
      }
      return result.bytes
    }
    let expected = try answer(try schema.makePlan(query, operationName: nil))
    guard try JSONValue(parsing: expected)["data"]?["flight"]?["plane"]?["seats"] == 149 else {
      throw Failure(description: "wrong answer: \(String(decoding: expected, as: UTF8.self))")
    }
    var bytes = 0
    let uncached = try CPUTime.each(operations) {
      bytes += try answer(try schema.makePlan(query, operationName: nil)).count
    }
    var cache = PlanCache<OperationPlan>(capacity: 16)
    let cached = try CPUTime.each(operations) {
      bytes += try answer(try schema.prepare(query, operationName: nil, cache: &cache)).count
    }
    let parse = try CPUTime.each(operations) { _ = try Parser.parse(query, limits: schema.limits.parsing) }
    let document = try Parser.parse(query, limits: schema.limits.parsing)
    let validate = CPUTime.each(operations) {
      bytes += Validator.validate(document, against: schema.schema, limits: schema.limits.validation).count
    }
    let plan = try schema.makePlan(query, operationName: nil)
    let execute = try CPUTime.each(operations) { bytes += try answer(plan).count }

    var figure = BenchFigure("graphql")
    figure.add("operations", operations)
    figure.add("answer_bytes", expected.count)
    figure.add("uncached_us", uncached / 1000)
    figure.add("cached_us", cached / 1000)
    figure.add("parse_us", parse / 1000)
    figure.add("validate_us", validate / 1000)
    figure.add("execute_us", execute / 1000)
    figure.print()
    if bytes == 0 { throw Failure(description: "nothing was answered") }
  }
}
