import MartletCommandLine
import MartletJSON
import MartletTreeRules

/// `martlet rules check|test|explain|coverage`: the rules of a synced tree, without a server.
enum RulesCommand: Subcommand {
  static let specification = CommandSpecification(
    name: "rules", summary: "Check and test the rules of a synced tree.",
    operands: [
      .init(
        name: "ACTION", help: "check, test, explain or coverage",
        choices: [
          .init("check", "report every mistake with its place"), .init("test", "run the cases of a file"),
          .init("explain", "show the values of the rules"),
          .init("coverage", "show how often each rule was true, false or failed"),
        ]),
      .init(name: "RULES", help: "a rules file: JSON with comments, whose member is \"rules\""),
      .init(name: "CASES", help: "test, explain, coverage: a file with data, users and cases", isOptional: true),
    ],
    options: [
      .init(name: "coverage", value: nil, help: "test: how often each rule was true, false or failed"),
      .init(name: "case", value: "NAME", help: "explain: one case only, by its name"),
    ],
    examples: [
      ("martlet rules check rules.json", "reports every mistake with its line and column"),
      ("martlet rules test rules.json cases.json --coverage", "runs the cases; exit code 1 when one does not hold"),
      ("martlet rules explain rules.json cases.json", "shows the values of the rules that each case evaluates"),
      ("martlet rules coverage rules.json cases.json", "exit code 1 when the cases leave an outcome of a rule untried"),
    ],
    discussion: """
      A case is {"name", "as": USER, "read" | "write" | "merge": PATH, "value", "query", "allowed": true | false, "rule"}. \
      "data", "now" and "users" stand beside "cases"; a case can bring its own data and now.
      """)

  static func run(_ arguments: ParsedArguments) throws -> ExitCode {
    let file = arguments.operands[1]
    let rules = try read(file)
    let cases = arguments.operands.count > 2 ? arguments.operands[2] : nil
    switch (arguments.operands[0], cases) {
    case ("check", nil):
      let kinds = RuleKind.allCases.map { kind in
        Count.of(rules.rules.count { $0.kind == kind }, ".\(kind.rawValue) rule")
      }
      Console.out("\(file) is good: \(kinds.joined(separator: ", ")).")
      return .success
    case ("test", let cases?): return try test(rules, cases, showsCoverage: arguments.has("coverage"))
    case ("explain", let cases?): return try explain(rules, cases, arguments.value("case"))
    case ("coverage", let cases?): return try showCoverage(rules, cases)
    case ("check", _): throw UsageError("check takes one file.")
    default: throw UsageError("Name the file with the cases: martlet rules \(arguments.operands[0]) RULES CASES.")
    }
  }

  /// The rules of a file; its mistakes, one a line, when it has some.
  private static func read(_ path: String) throws(CommandFailure) -> RuleSet {
    let text = try NamedFile.text(path)
    do {
      return try RuleSet(parsing: text)
    } catch {
      let lines = error.problems.map { problem in
        "\(path):\(problem.position.line):\(problem.position.column): "
          + (problem.path.isEmpty ? "" : "\(problem.path): ") + problem.message
      }
      throw CommandFailure(.badData, lines.joined(separator: "\n"))
    }
  }

  private static func results(
    _ rules: RuleSet, _ path: String, _ coverage: RuleTrace
  ) throws(CommandFailure) -> [RuleCases.Result] {
    let text = try NamedFile.text(path)
    let json: JSONValue
    do { json = try JSONValue(parsing: text) } catch { throw CommandFailure(.badData, "\(path): \(error)") }
    do {
      return try RuleCases(json).run(rules, coverage: coverage)
    } catch {
      throw CommandFailure(.badData, "\(path): \(error)")
    }
  }

  private static func test(_ rules: RuleSet, _ path: String, showsCoverage: Bool) throws -> ExitCode {
    let coverage = RuleTrace(rules)
    let results = try results(rules, path, coverage)
    let failed = results.filter { !$0.hasPassed }
    for result in failed { Console.out("FAILED \(result.name): \(result.message)") }
    if showsCoverage { show(coverage) }
    Console.out("\(Count.of(results.count, "case")), \(failed.count) failed.")
    return failed.isEmpty ? .success : .failure
  }

  private static func show(_ coverage: RuleTrace) {
    for rule in coverage.coverage {
      let counts = "true \(rule.wasTrue), false \(rule.wasFalse), failed \(rule.failed)"
      Console.out("\(rule.isComplete ? "  " : "! ")\(rule.rule): \(counts)")
    }
  }

  /// The rules' outcomes over all cases; whether the cases hold is another action's business.
  private static func showCoverage(_ rules: RuleSet, _ path: String) throws -> ExitCode {
    let coverage = RuleTrace(rules)
    _ = try results(rules, path, coverage)
    show(coverage)
    let (all, complete) = (coverage.coverage.count, coverage.coverage.count(where: \.isComplete))
    Console.out("\(complete) of \(Count.of(all, "rule")) covered.")
    return complete == all ? .success : .failure
  }

  private static func explain(_ rules: RuleSet, _ path: String, _ name: String?) throws -> ExitCode {
    let results = try results(rules, path, RuleTrace(rules)).filter { name == nil || $0.name == name }
    guard !results.isEmpty else { throw UsageError("There is no case named \(name ?? "").") }
    for result in results {
      Console.out("\(result.name): \(result.hasPassed ? "holds: \(Self.text(result.decision))" : result.message)")
      var rule = ""
      for part in result.parts {
        if part.rule != rule { Console.out("  \(part.rule)") }
        rule = part.rule
        Console.out("    \(part.source) = \(part.value ?? "")")
      }
    }
    return results.allSatisfy(\.hasPassed) ? .success : .failure
  }

  private static func text(_ decision: RuleDecision) -> String {
    switch decision {
    case .allowed: "allowed"
    case .denied(let denial): "denied: \(denial)"
    }
  }
}
