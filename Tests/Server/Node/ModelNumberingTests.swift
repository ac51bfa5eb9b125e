import MartletModelSDL
import MartletModels
import Testing

/// Numbers and positions that a schema takes over from the one it follows.
@Suite struct ModelNumberingTests {
  private static let before = """
    type Post @model @auth(rules: [{allow: owner, ownerField: "author"}]) {
      id: ID! title: String @index(name: "byTitle") author: String comments: [Comment] @hasMany
    }
    type Comment @model { id: ID! text: String post: Post @belongsTo }
    """
  private static let after = """
    type Author @model { id: ID! name: String posts: [Comment] @hasMany }
    type Comment @model { stars: Int id: ID! post: Post @belongsTo text: String }
    type Post @model @auth(rules: [{allow: owner, ownerField: "author"}]) {
      kind: Int author: String comments: [Comment] @hasMany slug: String @index(name: "bySlug") id: ID!
      title: String @index(name: "byTitle")
    }
    """

  @Test func `models and fields that are kept have their numbers, and every reference follows`() throws {
    let old = try ModelSchema(Self.before)
    let new = try ModelSchema(Self.after, keeping: old.models)
    let plain = try ModelSchema(Self.after)
    #expect(new.models.map(\.number) == Array(new.models.indices))
    for model in old.models {
      #expect(new.models[model.number].name == model.name)
      for (position, field) in model.fields.enumerated() {
        #expect(new.models[model.number].fields[position].name == field.name)
        #expect(new.slots[model.name]?[field.name] == old.slots[model.name]?[field.name])
      }
    }
    // By names, the schema is the one that is read without another before it.
    func names(_ schema: ModelSchema) -> [String] {
      schema.models.map { model in
        func field(_ position: Int) -> String { model.fields[position].name }
        let relations = model.relations.map { relation in
          let target = schema.models[relation.target]
          return "\(relation.name) \(target.name) \(relation.sourceFields.map(field)) "
            + "\(relation.targetFields.map { target.fields[$0].name })"
        }
        let owners = model.access.rules.map { rule in
          if case .owner(let position, _, _) = rule.subject { field(position) } else { "-" }
        }
        return "\(model.name) \(model.fields.map(\.name).sorted()) \(model.primaryKey.map(field)) "
          + "\(model.indexes.map { "\($0.name) \($0.fields.map(field))" }) \(relations) \(owners) "
          + "\(model.createdAt.map(field) ?? "-") \(model.updatedAt.map(field) ?? "-")"
      }.sorted()
    }
    #expect(names(new) == names(plain))
    #expect(new.models.last?.name == "Author")
  }

  @Test func `a model or field that is missing is named`() throws {
    let old = try ModelSchema(Self.before)
    let field = #expect(throws: ModelSchemaError.self) {
      _ = try ModelSchema(
        "type Post @model { id: ID! } type Comment @model { id: ID! text: String }", keeping: old.models)
    }
    #expect(field?.description.contains("Post.title") == true)
    let model = #expect(throws: ModelSchemaError.self) {
      _ = try ModelSchema("type Other @model { id: ID! }", keeping: old.models)
    }
    #expect(model?.description.contains("Post") == true)
  }
}
