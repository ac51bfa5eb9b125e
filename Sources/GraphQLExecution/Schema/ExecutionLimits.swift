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
  /// Plans kept per operation for different values of the variables its `@skip` and `@include` read.
  public var variantsPerPlan = 16
  /// Resolved list items of one operation; one more fails the operation. Bounds memory against resolvers and stored
  /// lists that multiply.
  public var listItems = 1_000_000

  /// The defaults.
  public init() {}
}
