internal import MartletPatterns

/// One parsed rule. Its parts lie in an array, children before parents; the last one is the whole.
package struct Expression: Sendable {
  /// A part of the expression, by its index.
  typealias ID = Int

  enum Variable: String, Sendable, CaseIterable {
    case auth, now, root, data, newData, query
  }

  enum Operator: String, Sendable {
    case equal = "=="
    case notEqual = "!="
    case less = "<"
    case lessOrEqual = "<="
    case greater = ">"
    case greaterOrEqual = ">="
    case add = "+"
    case subtract = "-"
    case multiply = "*"
    case divide = "/"
    case remainder = "%"
  }

  enum Part: Sendable {
    case null
    case bool(Bool)
    case int(Int64)
    case double(Double)
    case string(String)
    /// An index into `patterns`.
    case pattern(Int)
    case variable(Variable)
    /// The key bound to a `$name`, by its index among the names of the path.
    case wildcard(Int)
    case list([ID])
    case not(ID)
    case negate(ID)
    case binary(Operator, ID, ID)
    /// Two or more operands: a long chain costs no depth.
    case and([ID])
    case or([ID])
    case conditional(ID, ID, ID)
    case member(ID, String)
    case element(ID, ID)
    /// Replaced by `invoke` when types are checked.
    case call(ID, [ID])
    case invoke(ID, Method, [ID])
    /// One of the values of `query`.
    case queryValue(QueryMember)
  }

  struct Node: Sendable {
    var part: Part
    /// In the file.
    var offsets: Range<Int>
    var depth: Int
  }

  var nodes: [Node] = []
  var patterns: [Pattern] = []
  /// The expression as it is written.
  package let source: String
  /// The names `$x` of the path, from the root down.
  let wildcards: [String]

  init(source: String, wildcards: [String]) {
    self.source = source
    self.wildcards = wildcards
  }

  var root: ID { nodes.count - 1 }
}

extension Expression.Part {
  var children: [Expression.ID] {
    switch self {
    case .null, .bool, .int, .double, .string, .pattern, .variable, .wildcard, .queryValue: []
    case .list(let ids), .and(let ids), .or(let ids): ids
    case .not(let id), .negate(let id), .member(let id, _): [id]
    case .binary(_, let left, let right), .element(let left, let right): [left, right]
    case .conditional(let test, let one, let two): [test, one, two]
    case .call(let callee, let arguments): [callee] + arguments
    case .invoke(let receiver, _, let arguments): [receiver] + arguments
    }
  }
}

/// The members of `query`, in `.read` rules.
enum QueryMember: String, Sendable, CaseIterable {
  case orderByChild, orderByKey, orderByValue, orderByPriority
  case startAt, endAt, equalTo, limitToFirst, limitToLast

  var type: RuleType {
    switch self {
    case .orderByChild: .string
    case .orderByKey, .orderByValue, .orderByPriority: .boolean
    case .startAt, .endAt, .equalTo: .primitive
    case .limitToFirst, .limitToLast: .number
    }
  }
}

/// The methods of snapshots and of strings.
enum Method: String, Sendable, CaseIterable {
  case val, child, parent, hasChild, hasChildren, exists, getPriority, isNumber, isString, isBoolean
  case contains, beginsWith, endsWith, replace, toLowerCase, toUpperCase, matches

  var isOfStrings: Bool {
    switch self {
    case .val, .child, .parent, .hasChild, .hasChildren, .exists, .getPriority, .isNumber, .isString, .isBoolean: false
    case .contains, .beginsWith, .endsWith, .replace, .toLowerCase, .toUpperCase, .matches: true
    }
  }

  /// The arguments' types; `hasChildren` also has a form without arguments.
  var arguments: [RuleType] {
    switch self {
    case .val, .parent, .exists, .getPriority, .isNumber, .isString, .isBoolean, .toLowerCase, .toUpperCase: []
    case .child, .hasChild, .contains, .beginsWith, .endsWith: [.string]
    case .hasChildren: [.list]
    case .replace: [.string, .string]
    case .matches: [.pattern]
    }
  }

  var result: RuleType {
    switch self {
    case .val: .primitive
    case .getPriority: .primitive
    case .child, .parent: .snapshot
    case .replace, .toLowerCase, .toUpperCase: .string
    case .hasChild, .hasChildren, .exists, .isNumber, .isString, .isBoolean, .contains, .beginsWith, .endsWith,
      .matches:
      .boolean
    }
  }
}

/// What is known of a part's value before evaluation.
enum RuleType: String, Sendable {
  case null, boolean, number, string
  /// Null, a boolean, a number or a string; known at evaluation.
  case primitive
  /// A primitive, an object or a list; known at evaluation.
  case any
  case snapshot, query
  case pattern, list, method

  /// Whether the check waits for evaluation.
  var isOpen: Bool { self == .primitive || self == .any }

  var isPrimitive: Bool {
    switch self {
    case .null, .boolean, .number, .string, .primitive: true
    case .any, .snapshot, .query, .pattern, .list, .method: false
    }
  }

  /// With its article.
  var name: String {
    switch self {
    case .null: "null"
    case .boolean, .number, .string, .snapshot, .method: "a \(rawValue)"
    case .primitive: "a value"
    case .any: "a value"
    case .query: "the query"
    case .pattern: "a regular expression"
    case .list: "a list of strings"
    }
  }
}
