import Foundation
import Testing

/// The code blocks of the seeds themselves: taken from the documents when the tests run, renamed by the table, changed
/// by the listed edits and nothing else, compiled in Swift 6 with warnings as errors, and run against a server.
@Suite struct SeedBlockTests {
  @Test(.enabled(if: SeedFolder.isPresent, SeedFolder.skipped))
  func `every block has a run, and every run and edit a block`() {
    for line in SeedFolder.waiting { print("Seeds: \(line) for a later part of the project.") }
    #expect(Set(SeedFolder.documents.map(\.seed)).isSuperset(of: SeedFolder.scope))
    let blocks = Set(SeedFolder.blocks.map(\.name))
    let run = Set(SeedRuns.all.flatMap(\.subjects))
    #expect(blocks.subtracting(run).isEmpty, "blocks without a run")
    #expect(run.subtracting(blocks).isEmpty, "runs without a block")
    for edit in SeedEdits.all { #expect(blocks.contains(edit.block), "\(edit.description) has no block") }
    #expect(Set(SeedRuns.all.map(\.program)).count == SeedRuns.all.count)
  }

  @Test(.enabled(if: SeedFolder.isPresent, SeedFolder.skipped))
  func `a block differs from the seed in renames and listed lines only`() throws {
    let renames = try RenameTable.current()
    for block in SeedFolder.blocks where block.language == .swift {
      let patched = try PatchedBlock(block, renames: renames, edits: SeedEdits.all)
      #expect(patched.lines.count == block.lines.count)
      #expect(
        patched.changedLines(of: block, renames: renames)
          == Set(SeedEdits.all.filter { $0.block == block.name }.map(\.line)), "\(block.name)")
    }
  }

  @Test(.enabled(if: Workshop.isPossible, Workshop.skipped), .timeLimit(.minutes(4)), arguments: SeedRuns.all)
  func `a block compiles and its run prints exactly what it should`(run: SeedRun) async throws {
    let outcome = try #require(try await Workshop.outcomes.value[run.program])
    let printed = Printed(SeedFolder.blocks)
    switch outcome {
    case .printed(let lines): #expect(run.certain(lines, printed) == run.expected(printed), "blocks \(run.subjects)")
    case .failed(let reason): Issue.record("blocks \(run.subjects): \(reason)")
    }
  }
}
