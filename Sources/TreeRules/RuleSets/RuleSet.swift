package import MartletJSONTree

/// What a rule decides.
package enum RuleKind: String, Hashable, Sendable, CaseIterable {
  case read, write, validate

  /// The member of a rules file.
  var member: String { ".\(rawValue)" }
}

/// One rule of a rule set.
package struct Rule: Sendable {
  package let kind: RuleKind
  /// The node and the kind, as `/users/$uid/.read`.
  package let path: String
  package let position: SourcePosition
  let expression: Expression

  /// The expression as it is written.
  package var source: String { expression.source }
}

/// The rules of one tree, parsed and checked: `.read`, `.write` and `.validate` by node, and the declared indexes.
///
/// ```swift
/// let rules = try RuleSet(parsing: #"{"rules": {"users": {"$uid": {".read": "auth.uid == $uid"}}}}"#)
/// let decision = try rules.read(at: "/users/ada", context)
/// ```
package struct RuleSet: Sendable {
  struct Level: Sendable {
    /// Indices into `rules`.
    var rules: [RuleKind: Int] = [:]
    var indexes: [ChildOrder] = []
    /// Indices into `levels`.
    var children: [TreeKey: Int] = [:]
    var wildcard: Int?
  }

  var levels: [Level]
  package internal(set) var rules: [Rule]
  let lines: LineTable
  package let limits: RuleLimits

  /// Reads a rules file.
  ///
  /// - Throws: every problem that was found, in the order of the file, at most `limits.problems`.
  package init(parsing text: String, limits: RuleLimits = RuleLimits()) throws(RuleSetError) {
    self = try RuleSetReader.read(text, limits)
  }

  init(levels: [Level], rules: [Rule], lines: LineTable, limits: RuleLimits) {
    self.levels = levels
    self.rules = rules
    self.lines = lines
    self.limits = limits
  }

  /// A node of the rules on the way to a path.
  struct Visit {
    var level: Level
    var path: TreePath
    /// The keys that stand for the path's `$names`.
    var wildcards: [TreeKey]
  }

  var start: Visit { Visit(level: levels[0], path: .root, wildcards: []) }

  /// The rules of a child: those under its name, else those of the `$name` beside it.
  func step(_ visit: Visit, to key: TreeKey) -> Visit? {
    var next = visit
    next.path = visit.path.child(key)
    if let named = visit.level.children[key] {
      next.level = levels[named]
      return next
    }
    guard !key.isPriority, let wildcard = visit.level.wildcard else { return nil }
    next.level = levels[wildcard]
    next.wildcards.append(key)
    return next
  }

  /// The orders by which the children of `path` are declared to be indexed, besides the order by key.
  package func indexes(at path: TreePath) -> [ChildOrder] {
    var visit = start
    for key in path.keys {
      guard let next = step(visit, to: key) else { return [] }
      visit = next
    }
    return visit.level.indexes
  }
}

extension RuleSet {
  /// The declared indexes by a child or by value, which a store has to keep.
  package var treeIndexes: Set<TreeIndex> {
    var found: Set<TreeIndex> = []
    collect(levels[0], [], &found)
    return found
  }

  private func collect(_ level: Level, _ pattern: [TreeKey?], _ found: inout Set<TreeIndex>) {
    for order in level.indexes where order != .priority { found.insert(TreeIndex(pattern, order: order)) }
    for (key, child) in level.children { collect(levels[child], pattern + [key], &found) }
    if let wildcard = level.wildcard { collect(levels[wildcard], pattern + [nil], &found) }
  }
}

/// Everything that is wrong with a rules file.
package struct RuleSetError: Error, Hashable, Sendable, CustomStringConvertible {
  package let problems: [RulesProblem]

  package var description: String { problems.map(\.description).joined(separator: "\n") }
}
