package import MartletJSONTree

extension RuleSet {
  /// Whether the node at `path` may be read: the first `.read` that is true, from the root down, grants everything
  /// below it.
  ///
  /// - Parameter trace: called with each part of each rule that is evaluated.
  /// - Throws: what the trees throw; failures of rules are false.
  package func read(
    at path: TreePath, _ context: RuleContext, trace: RuleTrace? = nil
  ) throws -> RuleDecision {
    var (visit, outcomes): (Visit?, [RuleResult]) = (start, [])
    for index in 0...path.keys.count {
      guard let current = visit else { break }
      if let outcome = try evaluate(.read, current, context, trace) {
        if outcome.isTrue { return .allowed }
        outcomes.append(outcome)
      }
      visit = index < path.keys.count ? step(current, to: path.keys[index]) : nil
    }
    return .denied(RuleDenial(kind: .read, path: path, reason: .notGranted(outcomes)))
  }

  /// Whether all of `writes` may be made, together.
  ///
  /// Each path needs a `.write` that is true between the root and itself. Each `.validate` must be true on the way
  /// and below each path, for nodes that exist after the write.
  ///
  /// - Parameters:
  ///   - writes: resolved values at absolute paths, none above another.
  ///   - context: with `newData` as it is after all of them.
  package func write(
    _ writes: [TreeWrite], _ context: RuleContext, trace: RuleTrace? = nil
  ) throws -> RuleDecision {
    let walk = WriteWalk(rules: self, context: context, trace: trace)
    let sorted = writes.sorted { $0.path < $1.path }
    do {
      try walk.visit(sorted[...], at: start, depth: 0, isGranted: false, outcomes: [])
    } catch let denial as RuleDenial {
      return .denied(denial)
    }
    return .allowed
  }

  /// Evaluates the rule of this kind, if there is one.
  func evaluate(
    _ kind: RuleKind, _ visit: Visit, _ context: RuleContext, _ trace: RuleTrace?
  ) throws -> RuleResult? {
    guard let index = visit.level.rules[kind] else { return nil }
    let rule = rules[index]
    var evaluator = Evaluator(
      expression: rule.expression, context: context, path: visit.path, wildcards: visit.wildcards,
      stepsLeft: limits.steps)
    if let trace { evaluator.trace = { id, value in trace.record(index, id, value) } }
    var (isTrue, failure): (Bool, RuleFailure?) = (false, nil)
    do {
      if case .bool(true) = try evaluator.evaluate() { isTrue = true }
    } catch let error as RuleFailure {
      failure = error
      trace?.recordFailure(index)
    }
    return RuleResult(
      rule: rule.path, source: rule.source, position: rule.position, path: visit.path, isTrue: isTrue,
      failure: failure, failurePosition: failure.map { lines.position(of: $0.offset) })
  }
}

/// Walks down to the written paths and below them; paths with a common beginning share the way.
private struct WriteWalk {
  let rules: RuleSet
  let context: RuleContext
  let trace: RuleTrace?

  /// - Parameters:
  ///   - writes: those at and below this node, in the order of their paths.
  ///   - isGranted: whether a rule above granted them.
  ///   - outcomes: the `.write` rules above that did not.
  func visit(
    _ writes: ArraySlice<TreeWrite>, at visit: RuleSet.Visit, depth: Int, isGranted: Bool, outcomes: [RuleResult]
  ) throws {
    var (isGranted, outcomes) = (isGranted, outcomes)
    if !isGranted, let outcome = try rules.evaluate(.write, visit, context, trace) {
      if outcome.isTrue { isGranted = true } else { outcomes.append(outcome) }
    }
    if let write = writes.first, write.path.keys.count == depth || write.path.keys[depth].isPriority {
      // The written node itself; its priority counts as the node.
      guard isGranted else { throw denial(write, outcomes) }
      try validate(visit, write.path.keys.count == depth ? write.node : nil)
      if writes.count > 1 {
        try visitChildren(writes.dropFirst(), at: visit, depth: depth, isGranted: isGranted, outcomes: outcomes)
      }
      return
    }
    try validate(visit, nil)
    try visitChildren(writes, at: visit, depth: depth, isGranted: isGranted, outcomes: outcomes)
  }

  private func visitChildren(
    _ writes: ArraySlice<TreeWrite>, at visit: RuleSet.Visit, depth: Int, isGranted: Bool, outcomes: [RuleResult]
  ) throws {
    var rest = writes
    while let first = rest.first {
      let key = first.path.keys[depth]
      let group = rest.prefix { $0.path.keys[depth] == key }
      rest = rest.dropFirst(group.count)
      if let next = rules.step(visit, to: key) {
        try self.visit(group, at: next, depth: depth + 1, isGranted: isGranted, outcomes: outcomes)
      } else if !isGranted {
        // No rules below here: nothing can grant any of these.
        throw denial(first, outcomes)
      }
    }
  }

  private func denial(_ write: TreeWrite, _ outcomes: [RuleResult]) -> RuleDenial {
    RuleDenial(kind: .write, path: write.path, reason: .notGranted(outcomes))
  }

  /// Checks this node and, below a written value, every node that has rules.
  private func validate(_ visit: RuleSet.Visit, _ written: TreeNode?) throws {
    if visit.level.rules[.validate] != nil {
      let exists = try context.newData.map { try $0.glimpse(at: visit.path) != .absent } ?? false
      if exists, let outcome = try rules.evaluate(.validate, visit, context, trace), !outcome.isTrue {
        throw RuleDenial(kind: .validate, path: visit.path, reason: .invalid(outcome))
      }
    }
    guard let written, visit.level.wildcard != nil || !visit.level.children.isEmpty else { return }
    if visit.level.wildcard != nil {
      try written.children.forEach { key, child in
        if let next = rules.step(visit, to: key) { try validate(next, child) }
        return true
      }
    } else {
      // Few rules beside many children: the rules lead.
      for key in visit.level.children.keys.sorted() {
        let child = written.child(key)
        if !child.isEmpty, let next = rules.step(visit, to: key) { try validate(next, child) }
      }
    }
  }
}
