public import MartletJSON
internal import MartletJSONTree
internal import MartletTreeRules

/// Parses, checks and evaluates the rules of a tree, so that rule sets are tested without a server.
///
/// ```swift
/// let rules = try TreeRulesDriver(rules: #"{"rules": {"users": {"$uid": {".read": "auth.uid === $uid"}}}}"#)
/// let verdict = try rules.read("users/ada", data: ["users": ["ada": 1]], auth: ["uid": "ada"])
/// verdict.isAllowed   // true
/// ```
public struct TreeRulesDriver: Sendable {
  private let rules: RuleSet

  /// Reads a rules file: JSON with comments, whose only member is `rules`.
  ///
  /// - Throws: `TreeRulesError` with everything that is wrong with it.
  public init(rules text: String) throws(TreeRulesError) {
    do { rules = try RuleSet(parsing: text) } catch { throw TreeRulesError(error.problems) }
  }

  /// What is wrong with a rules file; empty when it can be used.
  public static func problems(in text: String) -> [TreeRulesProblem] {
    do { _ = try TreeRulesDriver(rules: text) } catch { return error.problems }
    return []
  }

  /// Decides a read.
  ///
  /// - Parameters:
  ///   - path: keys with `/` between them.
  ///   - data: the whole tree.
  ///   - auth: what rules see as `auth`; null without a user.
  ///   - now: milliseconds since 1970.
  ///   - query: `orderByChild`, `orderByKey`, `orderByValue`, `orderByPriority`, `startAt`, `endAt`, `equalTo`,
  ///     `limitToFirst`, `limitToLast`.
  /// - Throws: `TreeDriverError` for a path, data or query that cannot be read.
  public func read(
    _ path: String, data: JSONValue, auth: JSONValue = .null, now: Int64 = 0, query: JSONValue? = nil
  ) throws(TreeDriverError) -> TreeRulesVerdict {
    let input = try Self.wrapped { () throws(RuleInputError) in try RuleInput(data: data, now: now) }
    var context = input.context(auth)
    context.query = try Self.wrapped { () throws(RuleInputError) in try RuleInput.window(query) }
    return try verdict(try Self.path(path), context) { rules, path, context, trace throws in
      try rules.read(at: path, context, trace: trace)
    }
  }

  /// Decides an overwrite; null deletes. Server values in `value` are resolved with `now`.
  ///
  /// - Throws: `TreeDriverError` for a path or values that cannot be read.
  public func write(
    _ path: String, _ value: JSONValue, data: JSONValue, auth: JSONValue = .null, now: Int64 = 0
  ) throws(TreeDriverError) -> TreeRulesVerdict {
    let input = try Self.wrapped { () throws(RuleInputError) in try RuleInput(data: data, now: now) }
    let path = try Self.path(path)
    return try decide(
      path, [try Self.wrapped { () throws(RuleInputError) in try input.write(value, at: path) }], input, auth)
  }

  /// Decides a merge: the members of `parts` are paths below `path`.
  ///
  /// - Throws: `TreeDriverError` for paths or values that cannot be read.
  public func merge(
    _ path: String, _ parts: JSONObject, data: JSONValue, auth: JSONValue = .null, now: Int64 = 0
  ) throws(TreeDriverError) -> TreeRulesVerdict {
    let input = try Self.wrapped { () throws(RuleInputError) in try RuleInput(data: data, now: now) }
    let path = try Self.path(path)
    return try decide(
      path, try Self.wrapped { () throws(RuleInputError) in try input.writes(parts, at: path) }, input, auth)
  }

  private func decide(
    _ path: TreePath, _ writes: [TreeWrite], _ input: RuleInput, _ auth: JSONValue
  ) throws(TreeDriverError) -> TreeRulesVerdict {
    var context = input.context(auth)
    context.newData = WrittenTree(input.tree, writes: writes)
    return try verdict(path, context) { rules, _, context, trace throws in
      try rules.write(writes, context, trace: trace)
    }
  }

  private func verdict(
    _ path: TreePath, _ context: RuleContext,
    _ decide: (RuleSet, TreePath, RuleContext, RuleTrace) throws -> RuleDecision
  ) throws(TreeDriverError) -> TreeRulesVerdict {
    let trace = RuleTrace(rules)
    do {
      return TreeRulesVerdict(try decide(rules, path, context, trace), trace)
    } catch {
      throw TreeDriverError("\(error)")
    }
  }

  private static func path(_ text: String) throws(TreeDriverError) -> TreePath {
    try wrapped { () throws(RuleInputError) in try RuleInput.path(text) }
  }

  private static func wrapped<Value>(_ body: () throws(RuleInputError) -> Value) throws(TreeDriverError) -> Value {
    do { return try body() } catch { throw TreeDriverError(error.description) }
  }

  /// Parses, checks and evaluates a single expression.
  ///
  /// - Parameters:
  ///   - kind: `read`, `write` or `validate`; decides which variables there are.
  ///   - path: the node for which the rule is evaluated.
  ///   - wildcards: the keys bound to the names `$x`, in the order of the path.
  ///   - data: the whole tree.
  ///   - newData: the whole tree after the write; nil in reads.
  /// - Throws: `TreeDriverError` for a kind, path, data or query that cannot be read.
  public static func evaluate(
    _ expression: String, as kind: String = "read", at path: String = "",
    wildcards: KeyValuePairs<String, String> = [:], data: JSONValue = .null, newData: JSONValue? = nil,
    auth: JSONValue = .null, now: Int64 = 0, query: JSONValue? = nil
  ) throws(TreeDriverError) -> TreeExpressionResult {
    guard let kind = RuleKind(rawValue: kind) else { throw TreeDriverError("\(kind) is not read, write or validate") }
    let parsed: RuleExpression
    do {
      parsed = try RuleExpression(parsing: expression, as: kind, wildcards: wildcards.map(\.key))
    } catch {
      return .invalid(TreeRulesProblem(error))
    }
    var context = try wrapped { () throws(RuleInputError) in try RuleInput(data: data, now: now).context(auth) }
    if let newData {
      context.newData = try wrapped { () throws(RuleInputError) in try RuleInput(data: newData, now: now).tree }
    }
    if kind == .read { context.query = try Self.wrapped { () throws(RuleInputError) in try RuleInput.window(query) } }
    let keys = try wrapped { () throws(RuleInputError) in
      try wildcards.map { pair throws(RuleInputError) in try RuleInput.key(pair.value) }
    }
    do {
      return .value(try parsed.evaluate(at: try Self.path(path), wildcards: keys, context))
    } catch let failure as RuleFailure {
      let position = parsed.position(of: failure)
      return .failure("\(position): \(failure)")
    } catch {
      throw TreeDriverError("\(error)")
    }
  }
}
