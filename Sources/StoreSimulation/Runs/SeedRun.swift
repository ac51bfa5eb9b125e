internal import MartletSimulation
internal import MartletVocabulary

/// A seed, played twice.
package struct SeedRun: Sendable {
  package var story: Story
  package var outcome: Story.Outcome
  /// Of all plays together.
  package private(set) var steps: Int
  package private(set) var faults: Int

  /// Plays the story of a seed twice; a difference between the two is a violation, too.
  ///
  /// - Parameter isOnce: plays it once only.
  package init(seed: UInt64, _ schemas: SchemaCache, isOnce: Bool = false) {
    let story = Story(seed: seed)
    self.story = story
    var outcome = story.play(schemas)
    (steps, faults) = (outcome.steps, outcome.faults)
    if isOnce {
      self.outcome = outcome
      return
    }
    let again = story.play(schemas)
    steps += again.steps
    faults += again.faults
    if outcome.history != again.history {
      let same = zip(outcome.history, again.history).prefix { $0 == $1 }.count
      let lines = [outcome, again].map { $0.history.dropFirst(same).first?.description ?? "nothing" }
      outcome.violations.append(
        Violation(check: .determinism, text: "after \(same) lines: \(lines[0]), then \(lines[1])"))
    }
    self.outcome = outcome
  }

  /// Whether the seed counts: something went wrong in it.
  package var counts: Bool { outcome.faults > 0 }
}

extension Story {
  /// The same story with as few faults as possible in which the same check fails.
  package func shrunk(_ check: Violation.Check, _ schemas: SchemaCache) -> Story {
    shrunk { $0.play(schemas).violations.contains { $0.check == check } }
  }

  /// The same story with as few faults as possible for which `isBroken` holds.
  package func shrunk(while isBroken: (Story) -> Bool) -> Story {
    var story = self
    var isSmaller = true
    while isSmaller {
      isSmaller = false
      for index in story.faults.indices.reversed() {
        var smaller = story
        smaller.faults.remove(at: index)
        guard isBroken(smaller) else { continue }
        story = smaller
        isSmaller = true
      }
    }
    return story
  }

  /// What a reader needs of a failed story: its seed, what it broke, its faults and its history.
  package func report(_ outcome: Outcome) -> String {
    let lines =
      ["seed \(seed)"] + outcome.violations.map { "  broken: \($0)" } + faults.map { "  fault: \($0)" }
      + outcome.history.map { entry in "  \(Self.seconds(entry.at.nanoseconds)) \(entry.text)" }
    return lines.joined(separator: "\n")
  }

  private static func seconds(_ nanoseconds: Int64) -> String {
    let milliseconds = nanoseconds / 1_000_000
    let rest = "\(milliseconds % 1_000)"
    return "\(milliseconds / 1_000)." + String(repeating: "0", count: 3 - rest.count) + rest
  }
}
