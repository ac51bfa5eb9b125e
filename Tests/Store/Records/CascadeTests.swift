import MartletChangeFeed
import MartletJSON
import MartletModelSchema
import MartletStore
import Testing

/// What goes with a record that is deleted.
struct CascadeTests {
  private func fixture(_ source: String) throws -> (StoreFixture, ModelSchema) {
    let schema = try ModelSchema(source)
    return (try StoreFixture(shapes: RecordShape.shapes(of: schema)), schema)
  }

  /// Creates a record with these values, by field name.
  private func create(_ model: ModelDefinition, _ values: [String: JSONValue], _ fixture: StoreFixture) throws {
    let record = Record(
      values: model.fields.map { values[$0.name] ?? ($0.isRequired ? "2026-11-22T00:00:00Z" : .null) })
    try fixture.commit(.create(model: model.number, record: record))
  }

  private func model(_ name: String, _ schema: ModelSchema) throws -> ModelDefinition {
    try #require(schema.models.first { $0.name == name })
  }

  @Test func `children of a relation with onDelete CASCADE go with their parent, each by a change of its own`() throws {
    let (fixture, schema) = try fixture(
      """
      type Post @model { id: ID! comments: [Comment] @hasMany(onDelete: CASCADE) notes: [Note] @hasMany }
      type Comment @model { id: ID! }
      type Note @model { id: ID! }
      """)
    let (post, comment, note) = (try model("Post", schema), try model("Comment", schema), try model("Note", schema))
    let (parent, other) = ("postCommentsId", "postNotesId")
    for id in ["p", "q"] { try create(post, ["id": .string(id)], fixture) }
    for id in ["a", "b"] { try create(comment, ["id": .string(id), parent: "p"], fixture) }
    try create(comment, ["id": "c", parent: "q"], fixture)
    try create(note, ["id": "n", other: "p"], fixture)
    let head = fixture.store.position.head
    try fixture.commit(.delete(model: post.number, key: Models.key("p")))
    #expect(try fixture.get(comment.number, "a") == nil)
    #expect(try fixture.get(comment.number, "b") == nil)
    #expect(try fixture.get(comment.number, "c") != nil)
    #expect(try fixture.get(note.number, "n") != nil)
    #expect(fixture.store.position.head == head + 3)
  }

  @Test func `the rows of a many-to-many relation go with either end`() throws {
    let (fixture, schema) = try fixture(
      """
      type Post @model { id: ID! tags: [Tag] @manyToMany(relationName: "PostTags") }
      type Tag @model { id: ID! posts: [Post] @manyToMany(relationName: "PostTags") }
      """)
    let (post, tag, join) = (try model("Post", schema), try model("Tag", schema), try model("PostTags", schema))
    for id in ["1", "2"] {
      try create(post, ["id": .string(id)], fixture)
      try create(tag, ["id": .string(id)], fixture)
    }
    for (id, ends) in [("11", ("1", "1")), ("12", ("1", "2")), ("21", ("2", "1")), ("22", ("2", "2"))] {
      try create(join, ["id": .string(id), "postId": .string(ends.0), "tagId": .string(ends.1)], fixture)
    }
    try fixture.commit(.delete(model: post.number, key: Models.key("1")))
    #expect(
      try ["11", "12", "21", "22"].map { try fixture.get(join.number, .string($0)) != nil } == [
        false, false, true, true,
      ])
    try fixture.commit(.delete(model: tag.number, key: Models.key("2")))
    #expect(try ["21", "22"].map { try fixture.get(join.number, .string($0)) != nil } == [true, false])
    #expect(try fixture.get(post.number, "2") != nil)
  }

  @Test func `onDelete needs the parent's primary key`() throws {
    let error = #expect(throws: (any Error).self) {
      try ModelSchema(
        """
        type Post @model { id: ID! code: String! comments: [Comment] @hasMany(indexName: "byPost", fields: ["code"], onDelete: CASCADE) }
        type Comment @model { id: ID! postCode: String! @index(name: "byPost") }
        """)
    }
    #expect(error.map { "\($0)" }?.contains("onDelete") == true)
  }
}
