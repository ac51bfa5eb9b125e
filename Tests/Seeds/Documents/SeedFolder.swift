import Foundation
import Testing

/// The folder with the seeds: `MARTLET_SEEDS`, or `../shared/seeds` beside the project.
enum SeedFolder {
  static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()

  static let folder: URL? = {
    let named = ProcessInfo.processInfo.environment["MARTLET_SEEDS"]
    let url = named.map { URL(fileURLWithPath: $0) } ?? root.appendingPathComponent("../shared/seeds").standardized
    // A folder that is named and missing is a mistake, which the tests find by its emptiness.
    return named != nil || FileManager.default.fileExists(atPath: url.path) ? url : nil
  }()

  static let isPresent = folder != nil
  static let skipped: Comment = "there are no seeds beside the project (../shared/seeds, or MARTLET_SEEDS)"

  /// The seeds whose blocks run; the others belong to parts of the project that are not written.
  static let scope: Set<String> = ["000", "001", "003", "004"]

  /// Every document in the order of their numbers.
  static let documents: [SeedDocument] = {
    guard let folder, let names = try? FileManager.default.contentsOfDirectory(atPath: folder.path) else { return [] }
    return names.sorted().compactMap { name in
      let seed = String(name.prefix { $0 != "_" && $0 != "." })
      guard seed.count == 3, let text = try? String(contentsOf: folder.appendingPathComponent(name), encoding: .utf8)
      else { return nil }
      return SeedDocument(seed: seed, text: text)
    }
  }()

  /// The blocks in scope.
  static let blocks = documents.filter { scope.contains($0.seed) }.flatMap(\.blocks)

  /// What the output says of the rest.
  static var waiting: [String] {
    documents.filter { !scope.contains($0.seed) }.map { "seed \($0.seed): \($0.blocks.count) blocks wait" }
  }
}
