import MartletAccess
import MartletGraphQLLanguage
import MartletJSON
import MartletModelSDL
import MartletModels
import Testing

@Suite struct AccessRuleTests {
  static func rules(_ sdl: String) throws -> ModelAccess {
    try #require(try ModelSchema(sdl).models.first).access
  }

  static func rule(_ text: String, fields: String = "") throws -> AccessRule? {
    try rules("type A @model @auth(rules: [{ \(text) }]) { id: ID! \(fields) }").rules.first
  }

  @Test func `each kind of rule has its subject, its providers and all operations by default`() throws {
    let signedIn: Set<IdentityProvider> = [.userPools, .oidc, .function]
    let owner = try Self.rule("allow: owner")
    #expect(owner?.providers == signedIn)
    #expect(owner?.operations == Set(AccessOperation.allCases))
    #expect(try Self.rule("allow: groups, groups: [\"staff\"]")?.subject == .groups(["staff"], claim: nil))
    #expect(
      try Self.rule("allow: groups, groups: \"staff\", groupClaim: \"roles\"")?.subject
        == .groups(["staff"], claim: "roles"))
    #expect(
      try Self.rule("allow: groups", fields: "groups: [String]")?.subject == .groupsField(1, isList: true, claim: nil))
    #expect(try Self.rule("allow: private")?.providers == signedIn.union([.iam, .identityPool]))
    #expect(try Self.rule("allow: public")?.providers == Set(IdentityProvider.allCases).subtracting([.system]))
    #expect(try Self.rule("allow: public, provider: apiKey")?.providers == [.apiKey])
    #expect(try Self.rule("allow: custom")?.providers == [.function])
    #expect(
      try Self.rule("allow: private, operations: [read, update]")?.operations == AccessOperation.reads.union([.update]))
    #expect(try Self.rule("allow: private, operations: [get]")?.operations == [.get])
  }

  @Test func `an owner rule without an owner field adds one that clients see`() throws {
    let schema = try ModelSchema("type A @model @auth(rules: [{ allow: owner }]) { id: ID! text: String }")
    let model = try #require(schema.models.first)
    let position = try #require(model.position(of: "owner"))
    #expect(model.access.rules.first?.subject == .owner(field: position, isList: false, claim: OwnerClaim(nil)))
    #expect(schema.schema.text.contains("owner: String"))
  }

  @Test func `a join model has the rules of both its sides, each once, and the fields that they read`() throws {
    let schema = try ModelSchema(
      """
      type Post @model @auth(rules: [{allow: owner}, {allow: groups, groups: ["staff"]}, {allow: owner, ownerField: "id"}]) {
        id: ID! tags: [Tag] @manyToMany(relationName: "PostTags")
      }
      type Tag @model @auth(rules: [{allow: groups,groups: ["staff"]}, {allow: groups, groupsField: "teams", operations: [read]}]) {
        id: ID! teams: [String!]! posts: [Post] @manyToMany(relationName: "PostTags")
      }
      """)
    let join = try #require(schema.models.first { $0.name == "PostTags" })
    let teams = try #require(join.position(of: "teams"))
    let owner = try #require(join.position(of: "owner"))
    #expect(
      join.access.rules.map(\.subject) == [
        .owner(field: owner, isList: false, claim: OwnerClaim(nil)), .groups(["staff"], claim: nil),
        .groupsField(teams, isList: true, claim: nil),
      ])
    #expect(!join.fields[teams].isRequired && join.fields[teams].isList)
    #expect(join.access.rules.last?.operations == AccessOperation.reads)
  }

  @Test func `a list of owners and another claim are read`() throws {
    let rule = try Self.rule(
      "allow: owner, ownerField: \"editors\", identityClaim: \"email\", provider: oidc", fields: "editors: [String!]")
    #expect(rule?.subject == .owner(field: 1, isList: true, claim: OwnerClaim("email")))
    #expect(rule?.providers == [.oidc])
  }

  @Test(arguments: [
    ("allow: owner, ownerField: \"b\"", "b: B @belongsTo", "crosses a relation"),
    ("allow: owner, ownerField: \"b.owner\"", "b: B @belongsTo", "crosses a relation"),
    ("allow: groups, groupsField: \"b\"", "b: B @belongsTo", "crosses a relation"),
    ("allow: owner", "owner: B @belongsTo", "crosses a relation"),
    ("allow: owner, ownerField: \"onwer\"", "", "not a stored field"), ("allow: groups", "", "not a stored field"),
    ("allow: owner, ownerField: \"n\"", "n: Int", "not text"),
    ("allow: groups, groupsField: \"n\"", "n: [Int]", "not text"),
    ("allow: groups, groups: [], groupsField: \"x\"", "x: String", "either groups"),
    ("allow: groups, groups: [\"\"]", "", "either groups"),
    ("allow: private, groups: [\"staff\"]", "", "does not read"),
    ("allow: public, ownerField: \"x\"", "x: String", "does not read"),
    ("allow: owner, groupClaim: \"x\"", "", "does not read"),
    ("allow: public, provider: userPools", "", "cannot have the provider"),
    ("allow: owner, provider: apiKey", "", "cannot have the provider"),
    ("allow: custom, provider: iam", "", "cannot have the provider"),
    ("allow: private, operations: []", "", "allows no operation"),
    ("allow: private, operations: [write]", "", "write"), ("provider: iam", "", "allow"),
  ])
  func `a rule that cannot be kept is refused with its place`(rule: String, field: String, message: String) {
    let sdl = "type A @model @auth(rules: [{ \(rule) }]) { id: ID! \(field) } type B @model { id: ID! }"
    let error = #expect(throws: ModelSchemaError.self) { try ModelSchema(sdl) }
    #expect(error?.errors.contains { $0.message.contains(message) && !$0.locations.isEmpty } == true, "\(error as Any)")
  }

  @Test func `rules of fields and relations stand apart from those of the type`() throws {
    let access = try Self.rules(
      """
      type A @model @auth(rules: [{ allow: public }]) {
        id: ID! secret: String @auth(rules: [{ allow: private }]) bs: [B] @hasMany @auth(rules: [{ allow: custom }])
      }
      type B @model { id: ID! }
      """)
    #expect(access.rules.map(\.subject) == [.public])
    #expect(access.fieldRules[1]?.map(\.subject) == [.private])
    #expect(access.relationRules["bs"]?.map(\.subject) == [.custom])
  }

  @Test func `a required field cannot be hidden`() {
    #expect(throws: ModelSchemaError.self) {
      try ModelSchema("type A @model { id: ID! n: Int! @auth(rules: [{ allow: private }]) }")
    }
  }

  @Test func `owners are known by the pair that AppSync stores, by its halves, by a claim or by the subject`() {
    let cognito = Identity(provider: .userPools, subject: "s1", claims: ["username": "ada", "email": "a@example.com"])
    #expect(OwnerClaim(nil).values(of: cognito) == ["s1::ada", "s1", "ada"])
    #expect(OwnerClaim("sub::username").values(of: cognito) == ["s1::ada", "s1", "ada"])
    #expect(OwnerClaim("username").values(of: cognito) == ["ada"])
    #expect(OwnerClaim("email").values(of: cognito) == ["a@example.com"])
    #expect(OwnerClaim("phone").values(of: cognito) == [])
    let plain = Identity(provider: .oidc, subject: "s1")
    #expect(OwnerClaim(nil).values(of: plain) == ["s1"])
    #expect(OwnerClaim("sub::username").values(of: plain) == ["s1"])
    #expect(OwnerClaim(nil).values(of: Identity(provider: .oidc, subject: "")) == [])
    #expect(OwnerClaim(nil).values(of: Identity(provider: .function)) == [])
    let old = Identity(provider: .userPools, subject: "s1", claims: ["cognito:username": "ada"])
    #expect(OwnerClaim(nil).values(of: old).first == "s1::ada")
  }
}
