import Foundation
import MartletTestSupport

/// What one run of the interoperation tests found. Every line is run once, by whichever test asks first.
actor Run {
  static let shared = Run()

  private var rows: [Row: Task<Outcome, Never>] = [:]
  private var features: [Feature: Task<String?, Never>] = [:]

  func outcome(of row: Row) async -> Outcome {
    if let task = rows[row] { return await task.value }
    let task = Task { row.end == .server ? await row.asClient() : await row.asServer() }
    rows[row] = task
    return await task.value
  }

  func failure(of feature: Feature) async -> String? {
    if let task = features[feature] { return await task.value }
    let task = Task { await feature.failure() }
    features[feature] = task
    return await task.value
  }
}

/// The tables of docs/COMPATIBILITY.md, written from what a run found.
struct Table {
  /// One line, as the run's record in `.build/interoperation/results.json` has it too.
  struct Line: Codable {
    var spoken: String
    var end: String
    var peer: String
    var passed: [String]
    var failed: [String]
    var without: String
  }

  var subscriptions: [Line] = []
  var features: [Line] = []

  /// Runs what has not been run, and reads all of it.
  static func ofThisRun() async throws -> Table {
    let versions = try await Peers.versions()
    func peer(_ packages: [String]) throws -> String {
      try packages.map { name in
        guard let version = versions[name] else { throw Peers.Failed(description: "no version of \(name)") }
        return "\(name) \(version)"
      }.joined(separator: " on ")
    }
    var table = Table()
    for row in Row.all {
      let outcome = await Run.shared.outcome(of: row)
      table.subscriptions.append(
        Line(
          spoken: row.spoken, end: row.end.rawValue, peer: try peer(row.packages),
          passed: Check.allCases.filter(outcome.passed.contains).map(\.rawValue), failed: outcome.failures,
          without: row.without))
    }
    for feature in Feature.all {
      let failure = await Run.shared.failure(of: feature)
      table.features.append(
        Line(
          spoken: feature.kind.name, end: feature.end.rawValue, peer: try peer(feature.packages),
          passed: failure == nil ? [feature.kind.what] : [], failed: failure.map { [$0] } ?? [], without: ""))
    }
    return table
  }

  /// For other programs.
  var record: Data {
    get throws {
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
      return try encoder.encode(["subscriptions": subscriptions, "features": features])
    }
  }

  static let begin = "<!-- begin: written by the interoperation run -->\n"
  static let end = "<!-- end -->\n"

  /// The part of the page between the two marks.
  var text: String {
    let columns = Check.allCases.map(\.rawValue)
    var text = "| protocol | ours | peer | \(columns.joined(separator: " | ")) | not with this peer |\n"
    text += "|\(String(repeating: " --- |", count: columns.count + 4))\n"
    for line in subscriptions {
      let cells = columns.map { line.passed.contains($0) ? "yes" : "" }
      text += "| \(line.spoken) | \(line.end) | \(line.peer) | \(cells.joined(separator: " | ")) | \(line.without) |\n"
    }
    text += "\n| by HTTP | ours | peer | what |\n| --- | --- | --- | --- |\n"
    for line in features {
      text += "| \(line.spoken) | \(line.end) | \(line.peer) | \(line.passed.joined()) |\n"
    }
    return text
  }

  /// The page with another text between the marks; nil when it has no marks.
  static func replacing(_ page: String, by text: String) -> String? {
    guard let from = page.range(of: begin), let to = page.range(of: end, range: from.upperBound..<page.endIndex)
    else { return nil }
    return page[..<from.upperBound] + "\n" + text + "\n" + page[to.lowerBound...]
  }
}
