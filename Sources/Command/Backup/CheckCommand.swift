import Foundation
import MartletCommandLine
import MartletStore

/// `martlet check DATA`.
enum CheckCommand: Subcommand {
  static let specification = CommandSpecification(
    name: "check", summary: "Verify a data folder that no server uses.",
    operands: [.init(name: "DATA", help: "the data folder, or a copy that 'martlet backup' made")],
    examples: [("martlet check backup-monday", "reads all of a copy and ends with 0 when it is sound")],
    discussion:
      "Verifies the database's own structure, that no entry of the change log is missing or differs from what was written, "
      + "that every entry can be read, and that the records are what the log makes of them. Where the log still begins with "
      + "its first entry, a second store is made from it in the temporary folder and compared whole; otherwise each record "
      + "is compared with its newest change in the log. The trees of further namespaces are verified as well. Nothing in "
      + "DATA is changed. Ends with 1 when something is damaged."
  )

  static func run(_ arguments: ParsedArguments) throws -> ExitCode {
    let folder = arguments.operands[0]
    let namespaces: [String]
    do {
      namespaces = try StoreFormat.namespaces(in: folder)
    } catch {
      throw CommandFailure(.io, "\(folder) could not be checked: \(error.message).")
    }
    // All of them are looked at, whatever the first ones are like.
    let areSound = try ([folder] + namespaces.map { folder + "/" + $0 }).map { try check($0) }
    return areSound.allSatisfy { $0 } ? .success : .failure
  }

  /// Verifies one store and prints what was found; false when it is damaged.
  private static func check(_ folder: String) throws -> Bool {
    let scratch = FileManager.default.temporaryDirectory.appendingPathComponent("martlet-check-\(UUID().uuidString)")
    let report: CheckReport
    do {
      try FileManager.default.createDirectory(at: scratch, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(at: scratch) }
      report = try Store.check(folder: folder, scratch: scratch.path)
    } catch let error as StoreError {
      let remedy = error.code == .locked ? "; stop the server, or check a copy made by 'martlet backup'" : ""
      throw CommandFailure(.io, "\(folder) could not be checked: \(error.message)\(remedy).")
    } catch {
      throw CommandFailure(.io, "\(scratch.path) could not be made: \(error.localizedDescription)")
    }
    let range = report.offsets.map { "entries \($0.lowerBound) to \($0.upperBound)" } ?? "no entries"
    guard report.isSound else {
      for finding in report.findings { Console.out("\(finding.part.rawValue): \(finding.message)") }
      if report.unlisted > 0 { Console.out("and \(report.unlisted) more") }
      Console.out("\(folder) is damaged.")
      return false
    }
    let compared =
      report.wasFolded
      ? "all tables are what the log makes" : "\(report.records) records are what their newest changes in the log say"
    Console.out("\(folder) is sound: \(range) of the log, and \(compared).")
    return true
  }
}
