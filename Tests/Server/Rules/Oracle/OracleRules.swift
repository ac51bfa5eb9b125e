import MartletJSON
import MartletVocabulary

/// What the oracle takes a record for: its values by field name.
typealias OracleRecord = [String: JSONValue]

/// A caller of the oracle's server. One without a name shows no credentials.
struct OracleCaller: Sendable {
  let name: String?
  let groups: [String]

  static let all = [
    OracleCaller(name: "ada", groups: ["red"]), OracleCaller(name: "bob", groups: ["red", "blue"]),
    OracleCaller(name: "cleo", groups: []), OracleCaller(name: "dan", groups: ["blue"]),
    OracleCaller(name: nil, groups: []),
  ]

  /// The credentials that `RuleFixture.question` reads.
  var credentials: String? { name.map { ([$0] + groups).joined(separator: " ") } }
}

/// A rule as the oracle reads it: each case in the plainest words, without predicates.
struct OracleRule: Sendable {
  enum Subject: CaseIterable { case owner, red, blue, team, anybodySignedIn, anybody }

  let subject: Subject
  /// Nil for all.
  let operations: [String]?

  /// Beside the choices where records are also synced.
  private static let syncChoices: [[String]?] = [["sync"], ["sync"]]

  private static let choices: [[String]?] = [
    nil, ["read"], ["read"], ["create"], ["update"], ["delete"], ["get"], ["list"], ["listen"], ["read", "update"],
    ["create", "read"], ["create", "update", "delete"],
  ]

  static func random(_ chance: inout SeededRandom, syncs: Bool = false) -> OracleRule {
    let choices = syncs ? choices + syncChoices : choices
    return OracleRule(
      subject: Subject.allCases[Int(chance.next() % 6)], operations: choices[Int(chance.next() % UInt64(choices.count))]
    )
  }

  var text: String {
    let who =
      switch subject {
      case .owner: "allow: owner"
      case .red: #"allow: groups, groups: ["red"]"#
      case .blue: #"allow: groups, groups: ["blue"]"#
      case .team: #"allow: groups, groupsField: "team""#
      case .anybodySignedIn: "allow: private"
      case .anybody: "allow: public"
      }
    return "{\(who)\(operations.map { ", operations: [\($0.joined(separator: ", "))]" } ?? "")}"
  }

  private func covers(_ operation: String) -> Bool {
    guard let operations else { return true }
    return operations.contains(operation)
      || operations.contains("read") && ["get", "list", "listen", "sync"].contains(operation)
  }

  func allows(_ operation: String, _ caller: OracleCaller, _ record: OracleRecord) -> Bool {
    guard mayAllow(operation, caller) else { return false }
    switch subject {
    case .owner: return record["owner"]?.string == caller.name
    case .team: return caller.groups.contains { record["team"]?.string == $0 }
    case .red, .blue, .anybodySignedIn, .anybody: return true
    }
  }

  /// Whether there can be a record on which the rule allows an operation.
  func mayAllow(_ operation: String, _ caller: OracleCaller) -> Bool {
    guard covers(operation) else { return false }
    return switch subject {
    case .owner, .anybodySignedIn: caller.name != nil
    case .red: caller.groups.contains("red")
    case .blue: caller.groups.contains("blue")
    case .team: !caller.groups.isEmpty
    case .anybody: true
    }
  }
}

extension [OracleRule] {
  static func random(_ chance: inout SeededRandom, syncs: Bool = false) -> [OracleRule] {
    (0...Int(chance.next() % 3)).map { _ in OracleRule.random(&chance, syncs: syncs) }
  }

  var directive: String { "@auth(rules: [\(map(\.text).joined(separator: ", "))])" }
  func allow(_ operation: String, _ caller: OracleCaller, _ record: OracleRecord) -> Bool {
    contains { $0.allows(operation, caller, record) }
  }
  func mayAllow(_ operation: String, _ caller: OracleCaller) -> Bool { contains { $0.mayAllow(operation, caller) } }
}

/// The rules of a schema with racks and their books.
struct OracleRules: Sendable {
  struct Model: Sendable {
    var rules: [OracleRule]
    /// Nil where the field has none of its own.
    var secret: [OracleRule]?

    /// The record as a caller sees it; nil when it does not.
    func view(_ record: OracleRecord, _ operation: String, _ caller: OracleCaller) -> OracleRecord? {
      guard rules.allow(operation, caller, record) else { return nil }
      var view = record
      if let secret, !secret.allow(operation, caller, record) { view["secret"] = .null }
      return view
    }
  }

  var rack: Model
  var book: Model
  /// Those of the relation from a rack to its books.
  var books: [OracleRule]?

  /// Whether the models are versioned, so that their records are also synced.
  let syncs: Bool
  /// Whether racks are deleted, and their books with them.
  let cascades: Bool

  init(_ chance: inout SeededRandom, syncs: Bool = false, cascades: Bool = false) {
    self.syncs = syncs
    self.cascades = cascades
    func rules() -> [OracleRule] { .random(&chance, syncs: syncs) }
    rack = Model(rules: rules(), secret: chance.next() % 2 == 0 ? rules() : nil)
    book = Model(rules: rules(), secret: chance.next() % 2 == 0 ? rules() : nil)
    books = chance.next() % 2 == 0 ? rules() : nil
  }

  func model(_ name: String) -> Model { name == "Book" ? book : rack }

  var schema: String {
    let versioned = syncs ? "@versioned" : ""
    let deletion = cascades ? ", onDelete: CASCADE" : ""
    return """
      type Rack @model \(versioned) \(rack.rules.directive) {
        id: ID! title: String owner: String team: String secret: String \(rack.secret?.directive ?? "")
        books: [Book] @hasMany(indexName: "byRack", fields: ["id"]\(deletion)) \(books?.directive ?? "")
      }
      type Book @model \(versioned) \(book.rules.directive) {
        id: ID! title: String owner: String team: String secret: String \(book.secret?.directive ?? "")
        rackID: ID @index(name: "byRack", queryField: "booksByRack")
        rack: Rack @belongsTo(fields: ["rackID"])
      }
      """
  }
}
