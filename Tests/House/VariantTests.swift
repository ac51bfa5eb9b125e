import Foundation
import Testing

@Suite struct VariantTests {
  /// What a patch takes out of a file: lines that are beside each other.
  private struct Hunk {
    var file: String
    var lines: [Substring] = []
  }

  private func hunks(_ patch: Repository.File) -> [Hunk] {
    var found: [Hunk] = []
    var file = ""
    for line in patch.lines {
      if line.hasPrefix("--- a/") {
        file = String(line.dropFirst(6))
      } else if line.hasPrefix("@@") {
        found.append(Hunk(file: file))
      } else if !found.isEmpty, line.hasPrefix("-"), !line.hasPrefix("---") {
        found[found.count - 1].lines.append(line.dropFirst())
      }
    }
    return found.filter { !$0.lines.isEmpty }
  }

  @Test func `a variant of make sim-mutants changes lines that the code no longer has`() throws {
    let patches = Repository.current.files(under: "Simulation/Mutants", extensions: ["patch"])
    for patch in patches {
      let hunks = hunks(patch)
      #expect(!hunks.isEmpty || patch.text.contains("\n+"), "\(patch.path) changes nothing")
      for hunk in hunks {
        let lines = Set(try Repository.current.text(hunk.file).split(separator: "\n", omittingEmptySubsequences: false))
        for line in hunk.lines {
          let isThere = lines.contains(line)
          #expect(isThere, "\(patch.path): \(hunk.file) has no line \"\(line)\"")
        }
      }
    }
  }

  @Test func `a promise from P1 to P17 has no variant that breaks it`() {
    let patches = Repository.current.files(under: "Simulation/Mutants", extensions: ["patch"])
    for promise in 1...17 {
      #expect(patches.contains { $0.text.contains("\nPromise: P\(promise)\n") }, "P\(promise)")
    }
  }

  @Test func `a variant of make sim-mutants does not name the check that catches it`() {
    for patch in Repository.current.files(under: "Simulation/Mutants", extensions: ["patch"]) {
      #expect(patch.text.contains("\nCaught by: P"), "\(patch.path)")
      #expect(
        patch.text.contains("mutant(\"\(patch.path.split(separator: "/").last?.dropLast(6) ?? "")\")"), "\(patch.path)")
    }
  }
}
