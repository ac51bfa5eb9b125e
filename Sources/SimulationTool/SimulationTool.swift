import Foundation
import MartletRuntime
import MartletStoreSimulation
import MartletVocabulary

/// `martlet-sim`: plays seeds of the DataStore's simulation. `Simulation/run` starts several.
///
///     martlet-sim FIRST COUNT [--stride N] [--until-broken] [--until CHECKS] [--once] [--history] [--counts FILE]
///
/// Plays the seeds FIRST, FIRST + N, … until COUNT of them had a fault.
@main
enum SimulationTool {
  static func main() {
    var arguments = Array(CommandLine.arguments.dropFirst())
    func option(_ name: String) -> String? {
      guard let place = arguments.firstIndex(of: name), place + 1 < arguments.count else { return nil }
      defer { arguments.removeSubrange(place...(place + 1)) }
      return arguments[place + 1]
    }
    let stride = option("--stride").flatMap(UInt64.init) ?? 1
    let counts = option("--counts")
    let until = option("--until")
    let numbers = arguments.filter { !$0.hasPrefix("--") }.compactMap(UInt64.init)
    guard numbers.count == 2, stride > 0 else {
      print("USAGE: martlet-sim FIRST COUNT [--stride N] [--until-broken] [--until CHECKS] [--once] [--history]")
      print("                   [--counts FILE]")
      exit(64)
    }
    var run = Run(first: numbers[0], count: Int(numbers[1]), stride: stride)
    run.stops = arguments.contains("--until-broken")
    run.until = until?.split(separator: "|").map(String.init) ?? []
    run.isOnce = arguments.contains("--once")
    run.showsHistory = arguments.contains("--history")
    let isSound = run.play()
    if let counts {
      do {
        try run.coverage.text.write(toFile: counts, atomically: true, encoding: .utf8)
      } catch {
        print("\(counts) cannot be written: \(error)")
        exit(74)
      }
    } else {
      print(run.coverage.lines.joined(separator: "\n"))
    }
    exit(isSound ? 0 : 1)
  }

  /// A run of seeds.
  struct Run {
    var first: UInt64
    var count: Int
    var stride: UInt64
    /// Whether it ends with the first seed that breaks something.
    var stops = false
    /// Names of checks: it ends with the first seed that breaks one of them.
    var until: [String] = []
    /// Whether each seed is played once only: mutants are looked for, not differences between two plays.
    var isOnce = false
    var showsHistory = false
    private(set) var coverage = Coverage()

    init(first: UInt64, count: Int, stride: UInt64) {
      self.first = first
      self.count = count
      self.stride = stride
    }

    /// Plays the seeds. Returns whether nothing was broken.
    mutating func play() -> Bool {
      let schemas = SchemaCache()
      let begin = MonotonicClock.now()
      var (counted, broken, steps, faults) = (0, 0, 0, 0)
      var seed = first
      while counted < count {
        let run = SeedRun(seed: seed, schemas, isOnce: isOnce)
        seed += stride
        coverage.add(run.outcome.counts)
        if run.counts { counted += 1 }
        steps += run.steps
        faults += run.faults
        if showsHistory { print(run.story.report(run.outcome)) }
        guard !run.outcome.violations.isEmpty else { continue }
        broken += 1
        report(run, schemas, shrinks: broken == 1 && !isOnce && until.isEmpty)
        if stops || run.outcome.violations.contains(where: { until.contains($0.check.rawValue) }) { break }
      }
      let time = MonotonicClock.now() - begin
      let seconds = max(0.001, Double(time.wholeNanoseconds) / 1e9)
      print(
        "\(counted) seeds with a fault, \(broken) broken, \(steps) steps, \(faults) faults, "
          + "\(Int(Double(steps) / seconds)) steps/s, \(Int(Double(faults) / seconds)) faults/s, \(Int(seconds)) s")
      return broken == 0
    }

    private func report(_ run: SeedRun, _ schemas: SchemaCache, shrinks: Bool) {
      print("seed \(run.story.seed) is broken:")
      for violation in run.outcome.violations.prefix(until.isEmpty ? 5 : 100) { print("  \(violation)") }
      guard shrinks, let first = run.outcome.violations.first, first.check != .determinism else { return }
      let story = run.story.shrunk(first.check, schemas)
      print("with as few faults as break it:")
      print(story.report(story.play(schemas)))
    }
  }
}
