import MartletAccess
import MartletJSON
import MartletModelSDL
import MartletModels
import MartletVocabulary
import Testing

/// Random schemas, callers and records against an evaluator that was written from the documentation alone and knows
/// neither predicates nor positions.
@Suite struct AccessDifferentialTests {
  /// One rule as it is written.
  struct WrittenRule {
    var allow: String
    var provider: String?
    var ownerField: String?
    var identityClaim: String?
    var groups: [String]?
    var groupsField: String?
    var groupClaim: String?
    var operations: [String]?

    var sdl: String {
      var parts = ["allow: \(allow)"]
      if let provider { parts.append("provider: \(provider)") }
      for (name, value) in [
        ("ownerField", ownerField), ("identityClaim", identityClaim), ("groupsField", groupsField),
        ("groupClaim", groupClaim),
      ] {
        if let value { parts.append("\(name): \"\(value)\"") }
      }
      if let groups { parts.append("groups: [\(groups.map { "\"\($0)\"" }.joined(separator: ", "))]") }
      if let operations { parts.append("operations: [\(operations.joined(separator: ", "))]") }
      return "{ \(parts.joined(separator: ", ")) }"
    }

    /// The documentation's table, one question after the other.
    func holds(_ operation: String, _ caller: Identity, _ record: [String: JSONValue]) -> Bool {
      let reads = ["get", "list", "listen", "sync", "search"]
      if let operations {
        guard operations.contains(operation) || (operations.contains("read") && reads.contains(operation)) else {
          return false
        }
      }
      let name = caller.provider.rawValue
      if let provider {
        guard provider == name else { return false }
      } else {
        switch allow {
        case "public": break
        case "custom": guard name == "function" else { return false }
        case "private":
          guard !["guest", "apiKey"].contains(name) else { return false }
        default: guard ["userPools", "oidc", "function"].contains(name) else { return false }
        }
      }
      switch allow {
      case "owner":
        let mine = names(of: caller)
        return texts(record[ownerField ?? "owner"]).contains { mine.contains($0) }
      case "groups":
        let member = groupClaim.map { texts(caller.claims[$0]) } ?? caller.groups
        let wanted = groups ?? texts(record[groupsField ?? "groups"])
        return wanted.contains { !$0.isEmpty && member.contains($0) }
      default: return true
      }
    }

    private func names(of caller: Identity) -> [String] {
      if let identityClaim {
        return [caller.claims[identityClaim]?.string ?? ""].filter { !$0.isEmpty }
      }
      guard let subject = caller.subject, !subject.isEmpty else {
        return caller.provider == .userPools ? [caller.claims["username"]?.string ?? ""].filter { !$0.isEmpty } : []
      }
      guard caller.provider == .userPools, let user = caller.claims["username"]?.string else { return [subject] }
      return [subject, user, "\(subject)::\(user)"]
    }

    private func texts(_ value: JSONValue?) -> [String] {
      switch value {
      case .string(let text)?: [text]
      case .array(let list)?: list.compactMap(\.string)
      default: []
      }
    }
  }

  static let fields = ["id", "owner", "editors", "team", "groups", "secret", "note"]
  static let names = ["ada", "bob", "s1", "s1::ada", "red", "blue", ""]

  static func rule(_ chance: inout SeededRandom) -> WrittenRule {
    var rule = WrittenRule(
      allow: ["owner", "groups", "private", "public", "custom"].randomElement(using: &chance) ?? "")
    switch rule.allow {
    case "owner":
      rule.ownerField = [nil, "owner", "editors", "team"].randomElement(using: &chance) ?? nil
      rule.identityClaim = [nil, nil, "email"].randomElement(using: &chance) ?? nil
      rule.provider = [nil, nil, "userPools", "oidc", "function"].randomElement(using: &chance) ?? nil
    case "groups":
      if Bool.random(using: &chance) {
        rule.groups = Array(["red", "blue", "green"].shuffled(using: &chance).prefix(2))
      } else {
        rule.groupsField = [nil, "team", "groups"].randomElement(using: &chance) ?? nil
      }
      rule.groupClaim = [nil, nil, "roles"].randomElement(using: &chance) ?? nil
      rule.provider = [nil, nil, "userPools", "oidc"].randomElement(using: &chance) ?? nil
    case "private": rule.provider = [nil, "oidc", "iam", "identityPool"].randomElement(using: &chance) ?? nil
    case "public": rule.provider = ["apiKey", "iam", "identityPool", nil].randomElement(using: &chance) ?? nil
    default: break
    }
    let operations = ["create", "update", "delete", "read", "get", "list", "listen", "sync", "search"]
    if Int.random(in: 0..<4, using: &chance) != 0 {
      rule.operations = Array(operations.shuffled(using: &chance).prefix(Int.random(in: 1...3, using: &chance)))
    }
    return rule
  }

  static func caller(_ chance: inout SeededRandom) -> Identity {
    let providers = IdentityProvider.allCases.filter { $0 != .system }
    var claims = JSONObject()
    if Bool.random(using: &chance) { claims["email"] = .string(names.randomElement(using: &chance) ?? "") }
    if Bool.random(using: &chance) { claims["username"] = "ada" }
    if Bool.random(using: &chance) { claims["roles"] = Bool.random(using: &chance) ? "red" : ["blue", 1, "red"] }
    return Identity(
      provider: providers.randomElement(using: &chance) ?? .guest,
      subject: Bool.random(using: &chance) ? names.randomElement(using: &chance) : nil,
      groups: Array(
        ["red", "blue", "", "green"].shuffled(using: &chance).prefix(Int.random(in: 0...2, using: &chance))),
      claims: claims)
  }

  static func record(_ chance: inout SeededRandom) -> [String: JSONValue] {
    var record: [String: JSONValue] = ["id": "1"]
    for field in ["owner", "team", "secret", "note"] {
      record[field] = names.randomElement(using: &chance).map { Bool.random(using: &chance) ? .string($0) : .null }
    }
    for field in ["editors", "groups"] {
      let some = names.shuffled(using: &chance).prefix(Int.random(in: 0...3, using: &chance))
      record[field] = Int.random(in: 0..<4, using: &chance) == 0 ? .null : .array(some.map { .string($0) })
    }
    return record
  }

  @Test func `what a caller sees and writes is what the documentation says`() throws {
    var (seen, hidden, denied, equal) = (0, 0, 0, 0)
    for seed in UInt64(1)...60 {
      var chance = SeededRandom(seed: seed)
      let typeRules = (0..<Int.random(in: 1...3, using: &chance)).map { _ in Self.rule(&chance) }
      let fieldRules = (0..<Int.random(in: 1...2, using: &chance)).map { _ in Self.rule(&chance) }
      let schema = try ModelSchema(
        """
        type A @model(timestamps: null) @auth(rules: [\(typeRules.map(\.sdl).joined(separator: " "))]) {
          id: ID! owner: String editors: [String] team: String groups: [String]
          secret: String @auth(rules: [\(fieldRules.map(\.sdl).joined(separator: " "))])
          note: String
        }
        """)
      let model = try #require(schema.models.first)
      let rules = (typeRules + fieldRules).map(\.sdl)
      #expect(model.fields.map(\.name) == Self.fields)
      var outcomes: [(Identity, RuleOutcome)] = []
      for _ in 0..<6 {
        let caller = Self.caller(&chance)
        let outcome = schema.outcome(of: 0, for: caller)
        outcomes.append((caller, outcome))
        for _ in 0..<6 {
          let values = Self.record(&chance)
          let record = Record(values: Self.fields.map { values[$0] ?? .null })
          for operation in AccessOperation.allCases {
            let name = operation.rawValue
            let isAllowed = typeRules.contains { $0.holds(name, caller, values) }
            let showsSecret = fieldRules.contains { $0.holds(name, caller, values) }
            let place = { "seed \(seed), \(name), \(caller), \(values), \(rules)" }
            var expected: Record?
            if isAllowed {
              expected = record
              if !showsSecret { expected?.values[5] = .null }
            }
            #expect(outcome.view(of: record, for: operation) == expected, "\(place())")
            #expect(outcome.predicate(for: operation).matches(record) == isAllowed, "\(place())")
            if isAllowed { seen += 1 } else { hidden += 1 }
            denied += Self.checkWrites(outcome, operation, record, isAllowed, showsSecret, place)
            Self.checkFilters(outcome, operation, record, expected, &chance, place)
          }
        }
      }
      equal += Self.checkEquality(outcomes)
    }
    // The chances are such that every branch is met often.
    #expect(seen > 2_000 && hidden > 2_000 && denied > 1_000 && equal > 20, "\(seen) \(hidden) \(denied) \(equal)")
  }

  /// Writing the field needs its rules as well; the number of refusals.
  static func checkWrites(
    _ outcome: RuleOutcome, _ operation: AccessOperation, _ record: Record, _ isAllowed: Bool, _ showsSecret: Bool,
    _ place: () -> String
  ) -> Int {
    func denial(_ body: () throws(RuleOutcome.Denial) -> Void) -> RuleOutcome.Denial? {
      do {
        try body()
        return nil
      } catch {
        return error
      }
    }
    let found: RuleOutcome.Denial?
    var expected: RuleOutcome.Denial? = isAllowed ? nil : .operation(operation)
    if isAllowed, !showsSecret, operation != .delete { expected = .fields(operation, [5]) }
    switch operation {
    case .create:
      found = denial { () throws(RuleOutcome.Denial) in try outcome.checkCreation(of: record, given: [5, 6]) }
    case .update:
      found = denial { () throws(RuleOutcome.Denial) in try outcome.checkUpdate(of: record, changing: [6, 5]) }
    case .delete: found = denial { () throws(RuleOutcome.Denial) in try outcome.checkDeletion(of: record) }
    case .get, .list, .listen, .sync, .search: return 0
    }
    #expect(found == expected, "\(place())")
    return found == nil ? 0 : 1
  }

  /// A filter selects by what the caller sees: the same as the filter on the caller's view.
  static func checkFilters(
    _ outcome: RuleOutcome, _ operation: AccessOperation, _ record: Record, _ view: Record?,
    _ chance: inout SeededRandom, _ place: () -> String
  ) {
    func comparison() -> Predicate {
      let field = [1, 3, 5, 5, 5, 6].randomElement(using: &chance) ?? 5
      let value = JSONValue.string(Self.names.randomElement(using: &chance) ?? "")
      let comparisons: [Comparison] = [
        .eq(value), .ne(value), .lt(value), .ge(value), .in([value, "ada"]), .notIn([value]), .attributeExists(true),
        .attributeExists(false), .attributeType(.null), .contains("a"), .notContains("a"), .eq(.null), .size(.gt(2)),
      ]
      return .compare(field: field, comparisons.randomElement(using: &chance) ?? .eq(value))
    }
    let filter: Predicate =
      switch Int.random(in: 0..<4, using: &chance) {
      case 0: comparison()
      case 1: .not(.and([comparison(), comparison()]))
      case 2: .or([comparison(), .not(comparison())])
      default: .and([comparison(), .or([comparison(), .all])])
      }
    let expected = view.map { filter.matches($0) } ?? false
    #expect(outcome.restricted(filter, for: operation).matches(record) == expected, "\(filter) \(place())")
  }

  /// Equal digests exactly for equal readings; the number of pairs that share one.
  static func checkEquality(_ outcomes: [(Identity, RuleOutcome)]) -> Int {
    var equal = 0
    for (position, one) in outcomes.enumerated() {
      for other in outcomes[..<position] {
        let isSame = one.1.digest(using: { $0 }) == other.1.digest(using: { $0 })
        #expect(isSame == (one.1.reading == other.1.reading))
        if isSame, one.0 != other.0 { equal += 1 }
      }
    }
    return equal
  }
}
