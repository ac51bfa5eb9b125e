package import MartletGraphQLLanguage

/// Bounds on what one operation may cost.
public struct ExecutionLimits: Sendable {
  /// Errors kept in one response. More are counted by a last entry and dropped: a list of failing items must not make
  /// the response larger than its data.
  public var errors = 200
  /// Errors reported about one request's variables.
  public var variableErrors = 50
  /// Planned fields of one operation, over all object types its fields may have. Types of interface fields multiply,
  /// so a small document can ask for a large plan; parts beyond the limit are planned while they run and forgotten.
  public var plannedFields = 4_000
  /// Plans kept by one cache. A plan of 30 fields takes about 10 KB.
  public var cachedPlans = 1_000
  /// The longest document, in bytes, whose plan is kept. A cache key holds the whole document, and people do not send
  /// the same long one often.
  public var cachedDocumentBytes = 32_768
  /// Plans kept per operation for different values of the variables its `@skip` and `@include` read.
  public var variantsPerPlan = 16
  /// Deferred fragments planned for one operation. Fragments that spread each other multiply, so a small document can
  /// ask for many; those beyond the limit are delivered with what is around them.
  public var deferredFragments = 64
  /// Deferred parts and streamed lists that one operation may have open at the same time. Each item of a list can have
  /// its own; those beyond the limit are reported as failed.
  public var openParts = 10_000
  /// Items of a streamed list that are completed or asked for ahead of what has been delivered. More would delay the
  /// first ones and take memory; fewer would leave batched resolvers little to batch.
  public var streamedItemsAhead = 32
  /// Resolved list items of one operation; one more fails the operation. Bounds memory against resolvers and stored
  /// lists that multiply.
  public var listItems = 1_000_000

  /// The size, depth and repetition of a request's text.
  package var parsing = ParserLimits.request
  /// The work of checking a request, and the cost it may announce.
  package var validation = ValidationLimits()

  /// The defaults.
  public init() {}

  /// The estimated cost an operation may announce: fields, times the items their lists may have.
  public var complexity: Int {
    get { validation.complexity }
    set { validation.complexity = newValue }
  }

  /// Selections inside each other once fragments are expanded.
  public var depth: Int {
    get { validation.depth }
    set { validation.depth = newValue }
  }
}
