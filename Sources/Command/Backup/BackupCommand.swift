import Foundation
import MartletCommandLine
import MartletStore

/// `martlet backup DATA COPY`.
enum BackupCommand: Subcommand {
  static let specification = CommandSpecification(
    name: "backup", summary: "Copy a data folder, also while a server uses it.",
    operands: [
      .init(name: "DATA", help: "the data folder, as given to 'serve --data'"),
      .init(name: "COPY", help: "the folder to write; it must hold no data yet"),
    ],
    examples: [("martlet backup data backup-monday", "copies one state of the data, change log included")],
    discussion:
      "A server that uses DATA makes the copy itself, some pages between two groups of writes, and is not held up. COPY "
      + "appears when it is complete and checked. The trees of further namespaces are copied with it, each in one state "
      + "of its own. "
      + "To restore, stop the server and serve the copy. Clients that have seen more than the copy holds receive one "
      + "gap; all others continue where they were.")

  static func run(_ arguments: ParsedArguments) throws -> ExitCode {
    let (source, target) = (arguments.operands[0], arguments.operands[1])
    do {
      try FolderBackup.copy(source, to: target) { Thread.sleep(forTimeInterval: 0.02) }
    } catch {
      throw CommandFailure(.io, "The backup was not made: \(error.message).")
    }
    Console.out("Copied \(source) to \(target).")
    return .success
  }
}
