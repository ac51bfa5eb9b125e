import MartletAccess
import MartletJSON
import MartletModelSDL
import MartletModels
import Testing

@Suite struct RuleOutcomeTests {
  static let notes = """
    type Note @model @auth(rules: [
      { allow: owner }, { allow: groups, groups: ["staff"], operations: [read] },
      { allow: public, operations: [get] }
    ]) {
      id: ID!
      text: String
      secret: String @auth(rules: [{ allow: owner, operations: [read, create] }])
    }
    type Other @model { id: ID! }
    """
  static let ada = Identity(provider: .oidc, subject: "ada")
  static let staff = Identity(provider: .oidc, subject: "eve", groups: ["staff"])

  /// id, text, secret, createdAt, updatedAt, owner.
  static func note(owner: JSONValue, secret: JSONValue = "s") -> Record {
    Record(values: ["1", "t", secret, "c", "u", owner])
  }

  @Test func `a record is read by its owner, by staff and by key alone by the public`() throws {
    let schema = try ModelSchema(Self.notes)
    let record = Self.note(owner: "ada")
    let outcome = { schema.outcome(of: 0, for: $0) }
    #expect(outcome(Self.ada).view(of: record, for: .list)?.values == record.values)
    #expect(outcome(Self.staff).view(of: record, for: .list)?.values[2] == .null)
    #expect(outcome(.guest).view(of: record, for: .list) == nil)
    #expect(outcome(.guest).view(of: record, for: .get)?.values[2] == .null)
    #expect(outcome(.system).view(of: record, for: .list)?.values == record.values)
    #expect(outcome(Self.ada).predicate(for: .list) == .compare(field: 5, .eq("ada")))
  }

  @Test func `a model without rules is closed as soon as another has some, and open in a schema without any`() throws {
    let schema = try ModelSchema(Self.notes)
    for operation in AccessOperation.allCases {
      #expect(schema.outcome(of: 1, for: Self.ada).predicate(for: operation) == .none)
      #expect(schema.outcome(of: 1, for: .system).predicate(for: operation) == .all)
    }
    let open = try ModelSchema("type Other @model { id: ID! }")
    #expect(open.outcome(of: 0, for: .guest).predicate(for: .delete) == .all)
  }

  @Test func `a scope takes operations and models away, and gives none`() throws {
    let schema = try ModelSchema(Self.notes)
    func predicate(_ caller: Identity, _ scope: AccessScope, _ operation: AccessOperation) -> Predicate {
      var caller = caller
      caller.scope = scope
      return schema.outcome(of: 0, for: caller).predicate(for: operation)
    }
    let reading = AccessScope(operations: AccessOperation.reads)
    #expect(predicate(Self.ada, reading, .create) == .none)
    #expect(predicate(Self.ada, reading, .list) != .none)
    #expect(predicate(Self.ada, AccessScope(models: ["Other"]), .get) == .none)
    #expect(predicate(.guest, reading, .list) == .none)
  }

  @Test func `writes are checked by record and by field, and name no values`() throws {
    let outcome = try ModelSchema(Self.notes).outcome(of: 0, for: Self.ada)
    let mine = Self.note(owner: "ada")
    let others = Self.note(owner: "eve")
    #expect(throws: Never.self) { try outcome.checkCreation(of: mine, given: [1, 2]) }
    #expect(throws: Never.self) { try outcome.checkUpdate(of: mine, changing: [1]) }
    #expect(throws: RuleOutcome.Denial.fields(.update, [2])) { try outcome.checkUpdate(of: mine, changing: [1, 2]) }
    #expect(throws: RuleOutcome.Denial.operation(.update)) { try outcome.checkUpdate(of: others, changing: [1]) }
    #expect(throws: RuleOutcome.Denial.operation(.create)) { try outcome.checkCreation(of: others, given: [1]) }
    #expect(throws: RuleOutcome.Denial.operation(.delete)) { try outcome.checkDeletion(of: others) }
    #expect(throws: Never.self) { try outcome.checkDeletion(of: mine) }
  }

  @Test func `a new record belongs to its creator unless it names another owner`() throws {
    let outcome = try ModelSchema(Self.notes).outcome(of: 0, for: Self.ada)
    #expect(outcome.owned(Self.note(owner: .null), given: [1]).values[5] == "ada")
    #expect(outcome.owned(Self.note(owner: "eve"), given: [1, 5]).values[5] == "eve")
    #expect(outcome.owned(Self.note(owner: .null), given: [5]).values[5] == .null)
    let list = try ModelSchema(
      "type A @model @auth(rules: [{ allow: owner, ownerField: \"o\" }]) { id: ID! o: [String] }")
    let owned = list.outcome(of: 0, for: Self.ada).owned(Record(values: ["1", .null]), given: [])
    #expect(owned.values[1] == ["ada"])
  }

  @Test func `callers that see the same have equal outcomes and digests, whatever they may write`() throws {
    let schema = try ModelSchema(
      """
      type Board @model @auth(rules: [
        { allow: public, operations: [read] }, { allow: groups, groups: ["staff"], operations: [update] }
      ]) { id: ID! gate: String }
      """)
    func outcome(_ identity: Identity) -> RuleOutcome { schema.outcome(of: 0, for: identity) }
    let key = Identity(provider: .apiKey, subject: "app")
    #expect(outcome(.guest) == outcome(key))
    #expect(outcome(.guest) != outcome(Self.staff))
    #expect(outcome(.guest).reading == outcome(Self.staff).reading)
    let digest: ([UInt8]) -> [UInt8] = { $0 }
    #expect(outcome(.guest).digest(using: digest) == outcome(Self.staff).digest(using: digest))
    let notes = try ModelSchema(Self.notes)
    let composed = notes.outcome(of: 0, for: Identity(provider: .oidc, subject: "caf\u{E9}"))
    let decomposed = notes.outcome(of: 0, for: Identity(provider: .oidc, subject: "cafe\u{301}"))
    #expect(composed != decomposed)
    #expect(composed.digest(using: digest) != decomposed.digest(using: digest))
  }

  @Test func `the order of groups and rules does not change an outcome`() throws {
    func outcome(_ rules: String, _ groups: [String]) throws -> RuleOutcome {
      let schema = try ModelSchema("type A @model @auth(rules: [\(rules)]) { id: ID! groups: [String] team: String }")
      return schema.outcome(of: 0, for: Identity(provider: .oidc, groups: groups))
    }
    let (one, two) = ("{ allow: groups }", "{ allow: groups, groupsField: \"team\" }")
    #expect(try outcome("\(one) \(two)", ["a", "b", "a"]) == outcome("\(two) \(one) \(one)", ["b", "a"]))
  }

  @Test func `a field that is hidden in some records can neither be sorted nor probed by`() throws {
    let schema = try ModelSchema(Self.notes)
    let outcome = schema.outcome(of: 0, for: Self.staff)
    #expect(!outcome.canSort(by: 2, for: .list))
    #expect(outcome.canSort(by: 1, for: .list))
    let hidden = Self.note(owner: "ada", secret: "code")
    for comparison in [
      Comparison.eq("code"), .beginsWith("c"), .gt("a"), .contains("o"), .size(.eq(4)), .attributeExists(true),
    ] {
      let filter = Predicate.compare(field: 2, comparison)
      #expect(filter.matches(hidden))
      #expect(!outcome.restricted(filter, for: .list).matches(hidden))
      #expect(outcome.restricted(.not(filter), for: .list).matches(hidden))
    }
  }
}
