/// Selections are not nested too deeply once fragments are expanded.
///
/// Checked before anything walks through fragments: it is what keeps those walks, and the executor's, within the
/// stack. Chains of fragments may be as long as the document, so this check uses no recursion through them.
enum ExpandedDepth {
  private struct Shape {
    /// Selection sets inside each other.
    var own = 0
    /// The fragments spread, and how deep.
    var spreads: [(name: String, depth: Int)] = []
  }

  /// Whether the document may be walked.
  static func check(_ validation: Validation) -> Bool {
    // Without fragments the parser's bound holds, unless this one is lower.
    guard !validation.fragments.isEmpty || validation.limits.depth < ParserLimits.maximumDepth else { return true }
    var shapes: [String: Shape] = [:]
    for (name, fragment) in validation.fragments {
      var shape = Shape()
      measure(fragment.selectionSet, 1, &shape)
      shapes[name] = shape
    }
    var heights: [String: Int] = [:]
    var hasCycle = false
    for fragment in validation.document.fragments {
      height(from: fragment.name.text, shapes, &heights, &hasCycle)
    }
    if hasCycle, shapes.count > validation.limits.depth {
      // The heights of fragments in cycles are only a lower bound, so that a walk could go deeper than they say.
      NoFragmentCycles.check(validation)
      return false
    }
    var deepest = (heights.values.max() ?? 0)
    for operation in validation.document.operations {
      var shape = Shape()
      measure(operation.selectionSet, 1, &shape)
      deepest = max(deepest, total(shape, heights))
    }
    guard deepest > validation.limits.depth else { return true }
    validation.report(
      .validationLimits,
      "The document is nested \(deepest) levels deep with its fragments; at most \(validation.limits.depth) are allowed."
    )
    return false
  }

  private static func measure(_ set: SelectionSet, _ depth: Int, _ shape: inout Shape) {
    shape.own = max(shape.own, depth)
    for selection in set.selections {
      switch selection {
      case .field(let field): if let nested = field.selectionSet { measure(nested, depth + 1, &shape) }
      case .inlineFragment(let fragment): measure(fragment.selectionSet, depth + 1, &shape)
      case .fragmentSpread(let spread): shape.spreads.append((spread.name.text, depth))
      }
    }
  }

  private static func total(_ shape: Shape, _ heights: [String: Int]) -> Int {
    shape.spreads.reduce(shape.own) { max($0, $1.depth + (heights[$1.name] ?? 0)) }
  }

  /// Computes the height of a fragment and of all it reaches. Spreads that close a cycle count nothing.
  private static func height(
    from start: String, _ shapes: [String: Shape], _ heights: inout [String: Int], _ hasCycle: inout Bool
  ) {
    var waiting = [(name: start, isExpanded: false)]
    var entered: Set<String> = []
    while let (name, isExpanded) = waiting.popLast() {
      guard heights[name] == nil, let shape = shapes[name] else { continue }
      if isExpanded {
        if shape.spreads.contains(where: { shapes[$0.name] != nil && heights[$0.name] == nil }) { hasCycle = true }
        heights[name] = total(shape, heights)
      } else if entered.insert(name).inserted {
        waiting.append((name, true))
        for spread in shape.spreads where heights[spread.name] == nil && !entered.contains(spread.name) {
          waiting.append((spread.name, false))
        }
      }
    }
  }
}
