extension ServerLimits {
  /// Bounds of what one GraphQL operation may cost.
  public struct Query: Sendable {
    /// How long one operation may run before it is answered with an error.
    public var operationTimeout: Duration = .seconds(30)
    /// How long the later parts of a response (`@defer`, `@stream`) may take after its first. Then those still missing
    /// are reported as failed, so that a resolver that never answers holds no connection for ever.
    public var deliveryTimeout: Duration = .seconds(60)

    // MARK: Large operations

    /// Bytes of a body or a document that an event loop parses itself, about a millisecond; larger ones are parsed on
    /// the threads of the concurrent pool.
    public var bytesOnLoop = 32_768
    /// Values in an operation's variables, 64 bytes of text for one more, up to which a loop executes it: about a
    /// millisecond. Larger ones, such as transactions, run on the concurrent pool, their responses' encoding included.
    public var valuesOnLoop = 1_000

    // MARK: The document

    /// Bytes of a document: a hundred times the largest operations seen in practice.
    public var documentBytes = 1_048_576
    /// Words and signs of a document.
    public var tokens = 20_000
    /// Levels of selections, values and types as they are written, at most 100: parsing uses the stack in proportion.
    public var nesting = 64
    /// Fields with an alias, since each makes the server resolve a field once more.
    public var aliases = 500
    /// Directives anywhere in a document.
    public var directives = 1_000
    /// Fields in selections, before fragments are expanded.
    public var fields = 5_000

    // MARK: Validation

    /// Levels of selections once fragments are expanded. Walks through a document use the stack in proportion.
    public var depth = 128
    /// The estimated cost an operation may announce: fields, times the items their lists may have.
    public var complexity = 250_000
    /// Pairs of fields compared to find out whether selections can be merged, some 10 milliseconds.
    public var fieldComparisons = 100_000
    /// Lists of fields, interfaces, possible types or input fields inside each other in introspection. The usual
    /// introspection queries need 2.
    public var introspectionDepth = 2
    /// Errors reported for one document; after them validation stops.
    public var documentErrors = 100
    /// Errors reported about one request's variables.
    public var variableErrors = 50

    // MARK: Lists

    /// Items of one page of a list when the request names no `limit`, as AppSync's servers have it.
    public var pageItems = 100
    /// Items of one page at most, whatever the request says.
    public var largestPage = 1_000
    /// Changes of other models after which a page of a sync query ends, and the next one continues: about 20 ms of
    /// reading. They are counted after each read of as many as a page has items.
    public var passedChanges = 16_384
    /// Bytes of records, about, after which a page of a sync query ends, as those of AppSync's tables do: with as many
    /// large records as `limit` allows it would be more than clients and connections take.
    public var syncPageBytes = 1_048_576
    /// Resolved list items of one operation; one more fails the operation. Bounds memory against resolvers and stored
    /// lists that multiply.
    public var listItems = 1_000_000

    // MARK: Filters

    /// Comparisons in one filter or condition, those of a subscription's control included: each costs an evaluation per
    /// event.
    public var filterComparisons = 200
    /// Values of one `in` or `notIn` of a filter. AppSync allows 5; more are useful and still cheap.
    public var filterListItems = 100
    /// Levels of `and`, `or` and `not` in a filter, at most 12: SQLite's parser has room for 100 symbols, and a level
    /// takes up to seven.
    public var filterDepth = 12

    // MARK: The response

    /// Bytes of one response; a larger one is answered with an error in its place. A connection holds
    /// `http.pendingBytes` that its client has not taken, and a response has to leave room there.
    public var responseBytes = 15_728_640
    /// Errors kept in one response. More are counted by a last entry and dropped: a list of failing items must not make
    /// the response larger than its data.
    public var responseErrors = 200
    /// Deferred fragments planned for one operation. Fragments that spread each other multiply, so a small document can
    /// ask for many; those beyond the limit are delivered with what is around them.
    public var deferredFragments = 64
    /// Deferred parts and streamed lists that one operation may have open at the same time. Each item of a list can
    /// have its own; those beyond the limit are reported as failed.
    public var openParts = 10_000
    /// Items of a streamed list that are completed or asked for ahead of what has been delivered. More would delay the
    /// first ones and take memory; fewer would leave batched resolvers little to batch.
    public var streamedItemsAhead = 32

    // MARK: What is kept

    /// Documents kept for clients that name them by their hash; zero keeps none and says so.
    public var persistedOperations = 2_000
    /// Bytes of all documents kept by their hash.
    public var persistedBytes = 4_194_304
    /// Compiled plans that each loop keeps, by document and operation name. The least recently used leaves. A plan of
    /// 30 fields takes about 10 KB.
    public var cachedPlans = 1_024
    /// Bytes of the longest document whose plan is kept by a schema that the program executes itself. A key of that
    /// cache holds the whole document, and people do not send the same long one often.
    public var cachedDocumentBytes = 32_768
    /// Plans kept per operation for different values of the variables its `@skip` and `@include` read.
    public var variantsPerPlan = 16
    /// Planned fields of one operation, over all object types its fields may have. Types of interface fields multiply,
    /// so a small document can ask for a large plan; parts beyond the limit are planned while they run and forgotten.
    public var plannedFields = 4_000

    /// The defaults.
    public init() {}
  }
}
