package import MartletJSON
import MartletJSONTree

/// A file of tests for rules: data, users, and operations with what is expected of each.
///
/// ```json
/// {
///   "data": {"posts": {"p1": {"author": "ada"}}},
///   "users": {"ada": {"uid": "ada"}},
///   "cases": [
///     {"name": "authors edit", "as": "ada", "write": "posts/p1/title", "value": "Hi", "allowed": true},
///     {"name": "others do not", "write": "posts/p1", "value": null, "allowed": false, "rule": "/posts/$post/.write"}
///   ]
/// }
/// ```
///
/// An operation is `read` (with a `query`), `write` or `merge` (each with a `value`), and names a path. Without `as` or
/// `auth` there is no user. A case can bring `data` and `now` of its own.
package struct RuleCases: Sendable {
  /// What became of one case.
  package struct Result: Hashable, Sendable {
    package let name: String
    package let hasPassed: Bool
    /// What differs from what was expected; of a denial also its reason.
    package let message: String
    /// What the rules say, whatever was expected.
    package let decision: RuleDecision
    /// The parts of the rules with their values, rule by rule.
    package let parts: [RuleTrace.Part]
  }

  private let file: JSONValue
  private let cases: [JSONValue]

  package init(_ file: JSONValue) throws(RuleInputError) {
    guard let cases = file["cases"]?.array else { throw RuleInputError("the file has no list named cases") }
    for (name, _) in file.object ?? [:] where !["data", "now", "users", "cases"].contains(name) {
      throw RuleInputError("the member \(name) is not known: there are data, now, users and cases")
    }
    self.file = file
    self.cases = cases
  }

  package var count: Int { cases.count }

  /// Runs the cases in their order.
  ///
  /// - Parameter coverage: collects how often each rule was true and false, over all cases.
  package func run(_ rules: RuleSet, coverage: RuleTrace) throws(RuleInputError) -> [Result] {
    var results: [Result] = []
    for (index, test) in cases.enumerated() {
      let name = test["name"]?.string ?? "case \(index + 1)"
      do {
        results.append(try run(test, name, rules, coverage))
      } catch {
        throw RuleInputError("\(name): \(error)")
      }
    }
    return results
  }

  private func run(
    _ test: JSONValue, _ name: String, _ rules: RuleSet, _ coverage: RuleTrace
  ) throws(RuleInputError) -> Result {
    let known = ["name", "as", "auth", "read", "write", "merge", "value", "query", "data", "now", "allowed", "rule"]
    for (member, _) in test.object ?? [:] where !known.contains(member) {
      throw RuleInputError("the member \(member) is not known")
    }
    guard let expected = test["allowed"]?.bool else { throw RuleInputError("allowed is not a boolean") }
    let trace = RuleTrace(rules)
    let decision = try decide(test, rules, trace)
    coverage.add(trace)
    var message = ""
    if decision.isAllowed != expected { message = expected ? "denied" : "allowed" }
    if case .denied(let denial) = decision {
      if let rule = test["rule"]?.string, rule != denial.rule { message = "denied by \(denial.rule ?? "no rule")" }
      if !message.isEmpty { message += ": \(denial)" }
    }
    return Result(
      name: name, hasPassed: message.isEmpty, message: message, decision: decision, parts: trace.values)
  }

  private func decide(
    _ test: JSONValue, _ rules: RuleSet, _ trace: RuleTrace
  ) throws(RuleInputError) -> RuleDecision {
    let input = try RuleInput(
      data: test["data"] ?? file["data"] ?? .null, now: test["now"]?.int ?? file["now"]?.int ?? 0)
    var context = input.context(try auth(test))
    let operations = ["read", "write", "merge"].filter { test[$0] != nil }
    guard operations.count == 1, let operation = operations.first, let text = test[operation]?.string else {
      throw RuleInputError("a case names one path as read, write or merge")
    }
    let path = try RuleInput.path(text)
    do {
      guard operation != "read" else {
        context.query = try RuleInput.window(test["query"])
        return try rules.read(at: path, context, trace: trace)
      }
      let value = test["value"] ?? .null
      let writes: [TreeWrite]
      if operation == "write" {
        writes = [try input.write(value, at: path)]
      } else {
        guard let parts = value.object else { throw RuleInputError("the value of a merge is an object") }
        writes = try input.writes(parts, at: path)
      }
      context.newData = WrittenTree(input.tree, writes: writes)
      return try rules.write(writes, context, trace: trace)
    } catch {
      throw RuleInputError("\(error)")
    }
  }

  private func auth(_ test: JSONValue) throws(RuleInputError) -> JSONValue {
    guard let name = test["as"]?.string else { return test["auth"] ?? .null }
    guard let user = file["users"]?[name] else { throw RuleInputError("the user \(name) is not among users") }
    return user
  }
}
