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
    options: [
      .init(name: "wait", value: "TIME", help: "how long the server that uses DATA may take to begin (30s)")
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
    let looks = try looks(arguments)
    do {
      try FolderBackup.copy(source, to: target, looks: looks) { Thread.sleep(forTimeInterval: pause) }
    } catch {
      throw CommandFailure(.io, "The backup was not made: \(error.message).")
    }
    Console.out("Copied \(source) to \(target).")
    return .success
  }

  /// Seconds between two looks at a copy that is being made.
  private static let pause = 0.02

  private static func looks(_ arguments: ParsedArguments) throws -> Int {
    guard let wait = try arguments.duration("wait") else { return FolderBackup.usualLooks }
    return Int(min((wait / .milliseconds(20)).rounded(.up), 1e9))
  }
}
