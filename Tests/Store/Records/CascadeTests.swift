import MartletChangeFeed
import MartletJSON
import MartletModelSDL
import MartletModels
import MartletStore
import MartletVocabulary
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

  // MARK: Other actions

  @Test func `a record with children of a relation with onDelete RESTRICT stays, and the error names a child`() throws {
    let (fixture, schema) = try fixture(
      """
      type Post @model { id: ID! comments: [Comment] @hasMany(onDelete: RESTRICT) notes: [Note] @hasMany(onDelete: CASCADE) }
      type Comment @model { id: ID! }
      type Note @model { id: ID! }
      """)
    let (post, comment, note) = (try model("Post", schema), try model("Comment", schema), try model("Note", schema))
    try create(post, ["id": "p"], fixture)
    for id in ["a", "b"] { try create(comment, ["id": .string(id), "postCommentsId": "p"], fixture) }
    try create(note, ["id": "n", "postNotesId": "p"], fixture)
    let head = fixture.store.position.head
    let id = WriteNumber(client: "c", number: 1)
    let delete = WriteRequest(.delete(model: post.number, key: Models.key("p")), writeNumber: id)
    let refusal = StoreError(
      .referenced, "Post p cannot be deleted while 2 Comment records refer to it, such as Comment a",
      StoreError.Conflict(model: comment.number, key: Models.key("a"), version: 1))
    #expect(try fixture.commit([delete]).first == .failure(refusal))
    // The outcome is all that was logged; it is the answer to a resend as well.
    #expect(fixture.store.position.head == head + 1)
    #expect(try fixture.get(note.number, "n") != nil)
    #expect(try fixture.commit([delete]).first == .failure(refusal))
    for id in ["a", "b"] { try fixture.commit(.delete(model: comment.number, key: Models.key(.string(id)))) }
    try fixture.commit(.delete(model: post.number, key: Models.key("p")))
    #expect(try fixture.get(note.number, "n") == nil)
  }

  @Test func `children of a relation with onDelete SET_NULL lose their reference by an update each`() throws {
    let (fixture, schema) = try fixture(
      """
      type Post @model { id: ID! comments: [Comment] @hasMany(onDelete: SET_NULL) }
      type Comment @model { id: ID! }
      """)
    let (post, comment) = (try model("Post", schema), try model("Comment", schema))
    for id in ["p", "q"] { try create(post, ["id": .string(id)], fixture) }
    for (id, parent) in [("a", "p"), ("b", "q"), ("c", "p")] {
      try create(comment, ["id": .string(id), "postCommentsId": .string(parent)], fixture)
    }
    let head = fixture.store.position.head
    let receipt = try fixture.commit(.delete(model: post.number, key: Models.key("p")))
    #expect(receipt.records.map(\.kind) == [.update, .update, .delete])
    let field = try #require(comment.position(of: "postCommentsId"))
    for (id, parent, version) in [("a", JSONValue.null, 2), ("b", "q", 1), ("c", .null, 2)]
      as [(String, JSONValue, Int64)]
    {
      let stored = try fixture.get(comment.number, .string(id))
      #expect(stored?.record[field] == parent && stored?.version == version)
    }
    #expect(try fixture.log(after: head).map { $0.record?.old.first?.value } == ["p", "p", nil])
  }

  @Test func `onDelete SET_NULL needs a reference that can be null`() throws {
    let error = #expect(throws: (any Error).self) {
      try ModelSchema(
        """
        type Post @model { id: ID! comments: [Comment] @hasMany(references: ["post"], onDelete: SET_NULL) }
        type Comment @model { id: ID! post: ID! }
        """)
    }
    #expect(error.map { "\($0)" }?.contains("Comment.post cannot be null") == true)
  }

  // MARK: Bounds

  private static let chain = "type Node @model { id: ID! nodes: [Node] @hasMany(onDelete: CASCADE) }"

  @Test func `a cascade beyond its bound is refused with the count, and one at its bound is carried out`() throws {
    let schema = try ModelSchema(Self.chain)
    var limits = StoreLimits()
    #expect(limits.cascadeChanges == 100_000)
    limits.cascadeChanges = 20
    limits.transactionChanges = 5
    let fixture = try StoreFixture(shapes: RecordShape.shapes(of: schema), limits: limits)
    let node = try model("Node", schema)
    try create(node, ["id": "root"], fixture)
    for number in 0..<21 { try create(node, ["id": .string("\(number)"), "nodeNodesId": "root"], fixture) }
    let head = fixture.store.position.head
    let results = try fixture.commit([WriteRequest(.delete(model: node.number, key: Models.key("root")))])
    guard case .failure(let error) = results.first else {
      Issue.record("a cascade of 21 changes was carried out")
      return
    }
    #expect(error.code == .invalid)
    #expect(error.message.contains("Node root would change at least 21 records with it, and 20 is the most"))
    #expect(fixture.store.position.head == head)
    try fixture.commit(.delete(model: node.number, key: Models.key("0")))
    // The bound of a transaction's own changes is another one.
    let receipt = try fixture.commit(.delete(model: node.number, key: Models.key("root")))
    #expect(receipt.records.count == 21)
    #expect(receipt.records.last?.key == Models.key("root"))
  }

  @Test func `a chain of records as long as the bound, and a circle, are deleted without a deep stack`() throws {
    let schema = try ModelSchema(Self.chain)
    let fixture = try StoreFixture(shapes: RecordShape.shapes(of: schema))
    let node = try model("Node", schema)
    func record(_ id: Int, _ parent: Int) -> WriteOperation {
      let values: [String: JSONValue] = ["id": .string("\(id)"), "nodeNodesId": .string("\(parent)")]
      return .create(
        model: node.number,
        record: Record(
          values: node.fields.map { values[$0.name] ?? ($0.isRequired ? "2026-11-22T00:00:00Z" : .null) }))
    }
    let length = 12_000
    for start in stride(from: 0, to: length, by: 4_000) {
      try fixture.commit(.batch((start..<(start + 4_000)).map { record($0, $0 == 0 ? length - 1 : $0 - 1) }))
    }
    let receipt = try fixture.commit(.delete(model: node.number, key: Models.key("0")))
    #expect(receipt.records.count == length)
    #expect(receipt.records.first?.key == Models.key(.string("\(length - 1)")))
  }
}
