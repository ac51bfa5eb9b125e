internal import MartletGraphQLClient

/// A record that the clients of a simulation write. Several choose the same ids, so that their writes meet.
struct Note: Model, Equatable {
  var id: String
  /// Replaced by each write; the server's strategy decides when two clients did.
  var title: String
  var rank: Int?
  /// Each writer adds a word of its own.
  var tags: [String]?
  var owner: String?
  enum CodingKeys: String, ModelKey { case id, title, rank, tags, owner }
}

/// Notes of any version of the application.
protocol WorldNote: Model {
  var id: String { get }
  var title: String { get set }
  var rank: Int? { get set }
  var tags: [String]? { get set }
  var owner: String? { get }
  var mood: String? { get }

  init(id: String, title: String, rank: Int, tags: [String])
  /// The field with the number of places in an order, for conditions.
  static var rankKey: CodingKeys { get }
  static var idKey: CodingKeys { get }
}

extension Note: WorldNote {
  var mood: String? { nil }

  init(id: String, title: String, rank: Int, tags: [String]) {
    self.init(id: id, title: title, rank: rank, tags: tags, owner: nil)
  }

  static var rankKey: CodingKeys { .rank }
  static var idKey: CodingKeys { .id }
}

extension Later.Note: WorldNote {
  init(id: String, title: String, rank: Int, tags: [String]) {
    self.init(id: id, title: title, rank: rank, tags: tags, owner: nil, mood: title)
  }

  static var rankKey: CodingKeys { .rank }
  static var idKey: CodingKeys { .id }
}

/// A record that the server alone writes, several in one transaction, so that the sum of their amounts never changes.
struct Account: Model, Equatable {
  var id: String
  var amount: Int
  enum CodingKeys: String, ModelKey { case id, amount }
}

/// The same notes as a later version of the application has them.
enum Later {
  struct Note: Model, Equatable {
    var id: String
    var title: String
    var rank: Int?
    var tags: [String]?
    var owner: String?
    var mood: String?
    enum CodingKeys: String, ModelKey { case id, title, rank, tags, owner, mood }
  }
}

/// The schema of the simulated server.
struct WorldSchema: Sendable, Hashable {
  /// What callers may do with notes.
  enum Rules: Int, Sendable, Hashable, CaseIterable {
    /// Everything.
    case open
    /// Read all, write their own.
    case readOnly
    /// Nothing but their own.
    case own
  }

  var rules = Rules.open
  var isOptimistic = false
  /// Whether notes have the field of a later version.
  var hasMood = false

  var text: String {
    let versioned = isOptimistic ? "@versioned(conflicts: OPTIMISTIC_CONCURRENCY)" : "@versioned"
    let auth =
      switch rules {
      case .open: "@auth(rules: [{allow: owner}, {allow: private, operations: [read, create, update, delete]}])"
      case .readOnly: "@auth(rules: [{allow: owner}, {allow: private, operations: [read]}])"
      case .own: "@auth(rules: [{allow: owner}])"
      }
    return """
      type Account @model @versioned @auth(rules: [{allow: private, operations: [read]}]) { id: ID! amount: Int! }
      type Note @model \(versioned) \(auth) {
        id: ID!
        title: String! @validate(type: maxLength, value: "20")
        rank: Int tags: [String!] owner: String\(hasMood ? " mood: String" : "")
      }
      """
  }

  /// Whether a caller may read a note with this owner.
  func shows(owner: String?, to caller: String) -> Bool { rules != .own || owner == caller }
}
