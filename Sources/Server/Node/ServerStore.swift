/// A further store under a server: data and a change log of its own, with a schema of its own, at paths of its own.
///
/// ```swift
/// var archive = try ServerStore("/archive", schema: archiveSchema)
/// archive.data = .folder("archive")
/// configuration.stores.append(archive)
/// ```
///
/// The store above is served at `/archive/graphql`, `/archive/graphql/stream` and `/archive/graphql/realtime`, by the
/// same event loops and connections, to the same callers and under the same limits as the first one. Offsets, cursors,
/// retention and backups of the stores have nothing to do with each other.
public struct ServerStore: Sendable {
  /// What the paths of the store begin with, such as `/archive`.
  public let path: String
  /// The schema: `@model` types, and types with resolvers of their own.
  public var schema: String
  /// The schema's file, for messages.
  public var schemaName: String?
  /// Where the data lives; every store has a folder of its own.
  public var data = ServerConfiguration.Data.memory
  /// Lets a migration delete models and fields the schema no longer has, with their data.
  public var allowsDropping = false
  /// Makes a new store in a folder that holds other files.
  public var allowsCreating = false
  /// The code behind types that are not models.
  public var resolvers: @Sendable (inout Resolvers) -> Void = { _ in }
  /// Subscription fields fed by topics of this store: field name to topic.
  public var topics: [String: String] = [:]

  /// A store served at `path`, everything else by default.
  ///
  /// - Throws: `ServerError` (`endpoint`) for a path that is not one or more segments of letters, digits, `-`, `_` and
  ///   `.`, or that begins with a path of the server's own.
  public init(_ path: String, schema: String) throws(ServerError) {
    let segments = path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).dropFirst()
    guard path.utf8.first == UInt8(ascii: "/"), !segments.isEmpty,
      segments.allSatisfy({ !$0.isEmpty && $0.allSatisfy(Self.isAllowed) })
    else {
      throw ServerError(.endpoint, "\"\(path)\" is not a path of a store, such as \"/archive\".")
    }
    let reserved = ["graphql", "healthz", "readyz", "metrics", "console", "channels", "signIn"]
    if let first = segments.first, let taken = reserved.first(where: { $0.utf8.elementsEqual(first) }) {
      throw ServerError(.endpoint, "A store cannot be served at \"\(path)\": /\(taken) is the server's own path.")
    }
    self.path = path
    self.schema = schema
  }

  private static func isAllowed(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."):
      true
    default: false
    }
  }
}

extension ServerConfiguration {
  /// The configuration as it holds for one of the further stores.
  func serving(_ store: ServerStore) -> ServerConfiguration {
    var own = self
    own.schema = store.schema
    own.schemaName = store.schemaName
    own.data = store.data
    own.allowsDropping = store.allowsDropping
    own.allowsCreating = store.allowsCreating
    own.resolvers = store.resolvers
    own.topics = store.topics
    own.stores = []
    return own
  }

  /// Refuses two stores at one path.
  func checkStores() throws(ServerError) {
    var taken: Set<[UInt8]> = []
    for store in stores where !taken.insert(Array(store.path.utf8)).inserted {
      throw ServerError(.endpoint, "Two stores are configured at \(store.path).")
    }
  }
}
