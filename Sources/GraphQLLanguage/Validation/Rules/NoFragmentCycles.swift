/// No fragment reaches itself.
///
/// The search keeps its own stack, since chains of fragments may be as long as the document.
enum NoFragmentCycles {
  private struct Step {
    var spreads: [FragmentSpread]
    var next = 0
    var name: String
  }

  static func check(_ validation: Validation) {
    var visited: Set<String> = []
    for fragment in validation.document.fragments where !visited.contains(fragment.name.text) {
      search(from: fragment.name.text, &visited, validation)
    }
  }

  private static func search(from start: String, _ visited: inout Set<String>, _ validation: Validation) {
    var path: [FragmentSpread] = []
    var positions: [String: Int] = [start: 0]
    var steps = [Step(spreads: spreads(start, validation), name: start)]
    visited.insert(start)
    while let step = steps.last {
      guard step.next < step.spreads.count else {
        positions[step.name] = nil
        steps.removeLast()
        _ = path.popLast()
        continue
      }
      steps[steps.count - 1].next += 1
      let spread = step.spreads[step.next]
      let name = spread.name.text
      if let position = positions[name] {
        let cycle = path[position...] + [spread]
        let via = cycle.dropLast().map { "'\($0.name.text)'" }.joined(separator: ", ")
        validation.report(
          .noFragmentCycles,
          "Cannot spread fragment '\(name)' within itself\(via.isEmpty ? "" : " via \(via)").",
          cycle.map(\.location))
      } else if validation.fragments[name] != nil, visited.insert(name).inserted {
        path.append(spread)
        positions[name] = path.count
        steps.append(Step(spreads: spreads(name, validation), name: name))
      }
    }
  }

  /// The spreads of a fragment, shallow ones before those of nested selections.
  private static func spreads(_ name: String, _ validation: Validation) -> [FragmentSpread] {
    guard let fragment = validation.fragments[name] else { return [] }
    var spreads: [FragmentSpread] = []
    var sets = [fragment.selectionSet]
    while let set = sets.popLast() {
      for selection in set.selections {
        switch selection {
        case .field(let field): if let nested = field.selectionSet { sets.append(nested) }
        case .inlineFragment(let inline): sets.append(inline.selectionSet)
        case .fragmentSpread(let spread): spreads.append(spread)
        }
      }
    }
    return spreads
  }
}
