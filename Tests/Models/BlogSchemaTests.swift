import MartletGraphQLLanguage
import MartletModelSDL
import MartletModels
import Testing

@Suite struct BlogSchemaTests {
  static let source = """
    enum Status { DRAFT PUBLISHED }
    type Author { name: String! email: AWSEmail }
    type Blog @model(subscriptions: null) { id: ID! name: String! posts: [Post] @hasMany }
    type Post @model(queries: { get: "post" }, timestamps: { updatedAt: null }) {
      slug: ID! @primaryKey(sortKeyFields: ["day", "number"])
      day: AWSDate!
      number: Int!
      status: Status! @default(value: "DRAFT") @index(name: "byStatus", sortKeyFields: ["day"])
      author: Author!
      stars: Int
      blog: Blog @belongsTo
    }
    type Subscription { published(status: Status): Post @aws_subscribe(mutations: ["createPost", "updatePost"]) }
    """

  @Test func `operations are named by a type's plural, or as the model says`() throws {
    let schema = try ModelSchema(
      """
      type Human @model { id: ID! } type Setting @model { id: ID! } type PostTag @model { id: ID! }
      type Hero @model { id: ID! } type Leaf @model { id: ID! }
      type Person @model(queries: { get: "person", list: "allPersons" }) {
        id: ID! name: String @index(name: "byName", queryField: "named") town: String @index(name: "byTown")
      }
      """
    ).schema
    let names = Set(try #require(schema.type("Query")).fields.map(\.name))
    #expect(
      names == [
        "getHuman", "listHumans", "getSetting", "listSettings", "getPostTag", "listPostTags", "getHero", "listHeroes",
        "getLeaf", "listLeaves", "person", "allPersons", "named", "peopleByTown",
      ])
  }

  func text(_ name: String) throws -> String {
    let type = try #require(try ModelSchema(Self.source).schema.type(name))
    let definition = try #require(type.definition)
    let extensions = type.extensions.map { Printer.text(of: Definition.typeExtension($0)) }
    return ([Printer.text(of: Definition.type(definition))] + extensions).joined(separator: "\n")
  }

  @Test(arguments: [
    (
      "Query",
      """
      type Query {
        getBlog(id: ID!): Blog
        listBlogs(filter: ModelBlogFilterInput, limit: Int, nextToken: String): ModelBlogConnection
        post(slug: ID!, day: AWSDate!, number: Int!): Post
        postsByStatusAndDay(status: Status!, day: ModelStringKeyConditionInput, sortDirection: ModelSortDirection, \
      filter: ModelPostFilterInput, limit: Int, nextToken: String): ModelPostConnection
      }
      """
    ),
    (
      "Mutation",
      """
      type Mutation {
        createBlog(input: CreateBlogInput!, condition: ModelBlogConditionInput): Blog
        updateBlog(input: UpdateBlogInput!, condition: ModelBlogConditionInput): Blog
        deleteBlog(input: DeleteBlogInput!, condition: ModelBlogConditionInput): Blog
        createPost(input: CreatePostInput!, condition: ModelPostConditionInput): Post
        updatePost(input: UpdatePostInput!, condition: ModelPostConditionInput): Post
        deletePost(input: DeletePostInput!, condition: ModelPostConditionInput): Post
        "Makes all writes together, or none of them. Answers the records in the order of the writes."
        transaction(writes: [ModelWriteInput!]!): [ModelRecord!]!
      }
      """
    ),
    (
      "Subscription",
      """
      type Subscription {
        published(status: Status): Post
      }
      extend type Subscription {
        onCreatePost(filter: ModelSubscriptionPostFilterInput): Post
        onUpdatePost(filter: ModelSubscriptionPostFilterInput): Post
        onDeletePost(filter: ModelSubscriptionPostFilterInput): Post
      }
      """
    ),
    (
      "Blog",
      """
      type Blog {
        id: ID!
        name: String!
        posts(filter: ModelPostFilterInput, sortDirection: ModelSortDirection, limit: Int, nextToken: String): \
      ModelPostConnection
        createdAt: AWSDateTime!
        updatedAt: AWSDateTime!
      }
      """
    ),
    (
      "Post",
      """
      type Post {
        slug: ID!
        day: AWSDate!
        number: Int!
        status: Status!
        author: Author!
        stars: Int
        blog: Blog
        createdAt: AWSDateTime!
        blogPostsId: ID
      }
      """
    ),
    (
      "CreatePostInput",
      """
      input CreatePostInput {
        slug: ID!
        day: AWSDate!
        number: Int!
        status: Status
        author: AuthorInput!
        stars: Int
        createdAt: AWSDateTime
        blogPostsId: ID
      }
      """
    ),
    (
      "DeletePostInput",
      """
      input DeletePostInput {
        slug: ID!
        day: AWSDate!
        number: Int!
      }
      """
    ),
    (
      "ModelPostConditionInput",
      """
      input ModelPostConditionInput {
        status: ModelStatusInput
        stars: ModelIntInput
        createdAt: ModelStringInput
        blogPostsId: ModelIDInput
        and: [ModelPostConditionInput]
        or: [ModelPostConditionInput]
        not: ModelPostConditionInput
      }
      """
    ),
    (
      "ModelSubscriptionPostFilterInput",
      """
      input ModelSubscriptionPostFilterInput {
        slug: ModelSubscriptionIDInput
        day: ModelSubscriptionStringInput
        number: ModelSubscriptionIntInput
        status: ModelSubscriptionStringInput
        stars: ModelSubscriptionIntInput
        createdAt: ModelSubscriptionStringInput
        blogPostsId: ModelSubscriptionIDInput
        and: [ModelSubscriptionPostFilterInput]
        or: [ModelSubscriptionPostFilterInput]
      }
      """
    ),
    (
      "ModelPostConnection",
      """
      type ModelPostConnection {
        items: [Post]!
        nextToken: String
      }
      """
    ),
  ])
  func `a blog is served by these types`(name: String, expected: String) throws {
    #expect(try text(name) == expected)
  }

  @Test func `a written subscription listens to its mutations with its arguments as equalities`() throws {
    let schema = try ModelSchema(Self.source)
    let post = try #require(schema.models.first { $0.name == "Post" })
    let status = try #require(post.position(of: "status"))
    guard case .subscribe(let source)? = schema.operations[FieldPath("Subscription", "published")],
      case .equalities(let equalities) = source.filter
    else {
      Issue.record("published is no subscription by equalities")
      return
    }
    #expect(source.model == post.number && source.events == [.create, .update])
    #expect(equalities.map(\.argument) == ["status"] && equalities.map(\.field) == [status])
    #expect(schema.operations[FieldPath("Subscription", "onCreateBlog")] == nil)
    #expect(try ModelSchema(Self.source).version == schema.version)
    #expect(try ModelSchema(Self.source + " type C { x: Int }").version != schema.version)
  }

  @Test func `the root types that models bring can be extended without being written`() throws {
    let models = try ModelSchema(
      """
      type Note @model { id: ID! text: String }
      extend type Query { hello: String }
      extend type Mutation { wave: Int }
      extend type Subscription { noted(text: String): Note @aws_subscribe(mutations: ["createNote"]) }
      extend type Subscription { tick: Int }
      """)
    for (type, fields) in [
      ("Query", ["hello", "getNote"]), ("Mutation", ["wave", "createNote"]),
      ("Subscription", ["noted", "tick", "onCreateNote"]),
    ] {
      let root = try #require(models.schema.type(type))
      for field in fields { #expect(models.schema.field(field, on: root) != nil, "\(type).\(field)") }
    }
    #expect(models.operations[FieldPath("Subscription", "noted")] != nil)
  }

  @Test
  func `a list of numbers or truth values has an input that asks for an element, and single fields have AppSync's`()
    throws
  {
    let schema = try ModelSchema(
      """
      enum Status { DRAFT PUBLISHED }
      type Post @model {
        id: ID! stars: [Int] notes: [Float!] flags: [Boolean] seen: [AWSTimestamp] tags: [String] states: [Status]
        state: Status rank: Int
      }
      """
    ).schema
    func members(_ type: String) throws -> [String] {
      let definition = try #require(schema.type(type)?.definition)
      let text = Printer.text(of: Definition.type(definition))
      return text.split(separator: "\n").dropFirst().dropLast().map { $0.trimmingPrefix("  ").description }
    }
    for type in ["ModelPostFilterInput", "ModelPostConditionInput"] {
      let fields = try members(type).filter { !$0.hasPrefix("id:") }
      #expect(
        fields.prefix(8) == [
          "stars: ModelIntListInput", "notes: ModelFloatListInput", "flags: ModelBooleanListInput",
          "seen: ModelIntListInput", "tags: ModelStringInput", "states: ModelStatusListInput",
          "state: ModelStatusInput", "rank: ModelIntInput",
        ])
    }
    #expect(try members("ModelSubscriptionPostFilterInput").contains("stars: ModelSubscriptionIntListInput"))
    #expect(try members("ModelSubscriptionPostFilterInput").contains("rank: ModelSubscriptionIntInput"))
    for base in ["Int", "Float", "Boolean"] {
      let added = ["contains: \(base)", "notContains: \(base)"]
      // What is valid in AppSync's input is valid here.
      let lists = Set(try members("Model\(base)ListInput"))
      #expect(lists == Set(try members("Model\(base)Input") + added))
      let live = Set(try members("ModelSubscription\(base)ListInput"))
      #expect(live.isSuperset(of: try members("ModelSubscription\(base)Input") + added))
    }
    #expect(try members("ModelStatusInput") == ["eq: Status", "ne: Status", "attributeExists: Boolean"])
    #expect(try members("ModelStatusListInput").contains("attributeExists: Boolean"))
    #expect(try ModelSchema(Self.source).schema.type("ModelIntListInput") == nil)
  }
}
