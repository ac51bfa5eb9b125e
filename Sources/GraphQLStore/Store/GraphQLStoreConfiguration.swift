internal import MartletRuntime

/// How a store finds out what is the same object, how long it keeps what, and how much.
///
/// ```swift
/// var configuration = GraphQLStoreConfiguration()
/// configuration.keyFields["Airport"] = ["code"]
/// configuration.limits.age = .seconds(3600)
/// let store = GraphQLStore(cache: InMemoryNormalizedCache(), configuration: configuration)
/// ```
public struct GraphQLStoreConfiguration: Sendable {
  /// The fields that identify an object of a type, for types where it is not `defaultKeyFields`. An empty list says
  /// that objects of the type have no identity: they are kept inside the object that holds them. What is said of an
  /// interface or union counts for its objects, as far as `schema` or `possibleTypes` names them.
  public var keyFields: [String: [String]] = [:]
  /// The fields that identify an object of any other type. An object that lacks one of them has no identity.
  public var defaultKeyFields = ["id"]
  /// The schema in the type system language, or as much of it as is known: what it mentions need not be there, nor a
  /// query type. With it fragments on interfaces and unions need no guessing, and requests can be given the key fields
  /// they lack.
  public var schema: String?
  /// Object types of interfaces and unions, for when there is no schema.
  public var possibleTypes: [String: Set<String>] = [:]
  /// Whether requests are given `__typename`, and key fields where a schema says that the type has them.
  public var addsIdentity = true
  /// How much is kept, and for how long.
  public var limits = GraphQLStoreLimits()
  /// Time since 1970; records remember when they were written. Another clock is for tests.
  public var clock: @Sendable () -> Duration = { WallClock.sinceEpoch() }

  /// The defaults.
  public init() {}
}

/// Bounds of a store. Nothing a server sends makes it grow beyond them.
public struct GraphQLStoreLimits: Sendable, Hashable {
  /// Records kept, the least recently used leave first. A field of a root type counts as a record. 100,000: at half a
  /// kilobyte each some 50 MB.
  public var records = 100_000
  /// Bytes of records kept, as an estimate. 64 MiB: what a phone app may hold without being noticed.
  public var bytes = 64 * 1_048_576
  /// How long after its last write a record counts; nil is for ever, since only the application knows how fast its
  /// data grow old.
  public var age: Duration?
  /// Parsed documents kept. 256: more than the operations most applications have; an application that builds document
  /// texts at run time stays bounded.
  public var documents = 256
  /// Bytes of one document. As with servers 1 MiB.
  public var documentBytes = 1 << 20
  /// Nesting of selections with fragments expanded. 96 levels fit the smallest thread's stack and are far beyond what
  /// servers accept.
  public var depth = 96
  /// Paths of missing fields that a result names. 16: enough to see what is wrong.
  public var reportedMissingFields = 16
  /// Optimistic updates that are in force at a time; the oldest is rolled back when there are more. 1,000 means that
  /// somebody forgot to end them.
  public var optimisticUpdates = 1_000
  /// Requests in a row that a watcher makes for lack of data without seeing anything new. 3: more means that two
  /// watchers take away each other's data.
  public var refetches = 3

  /// How long a cache that failed is left alone before a write is tried again. A second: a full disk or a locked file
  /// costs a client next to nothing meanwhile, and is noticed soon after it is mended.
  public var cacheRetryPause = Duration.seconds(1)

  /// The defaults.
  public init() {}

  /// Steps of a response path at `depth`: a name, mostly followed by an index.
  var pathLength: Int { max(1, min(depth, 1_000_000)) * 2 }
}
