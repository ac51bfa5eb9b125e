import Foundation
import MartletDataStore

/// A list that two terminals share, online and offline.
@main struct Checklist {
  static func main() async {
    do {
      try await run(Array(CommandLine.arguments.dropFirst()))
    } catch {
      FileHandle.standardError.write(Data("\(error)\n".utf8))
      exit(1)
    }
  }

  struct Usage: Error, CustomStringConvertible {
    let description = "Checklist SCHEMA | Checklist URL FILE [KEY]"
  }

  static func run(_ words: [String]) async throws {
    switch words.count {
    case 1: try await Evening.play(schema: String(contentsOfFile: words[0], encoding: .utf8), say)
    case 2, 3:
      guard let url = URL(string: words[0]) else { throw Usage() }
      // A server that is not started with --dev asks for an API key or a token.
      try await follow(try Terminal(url, .file(words[1]), key: words.count > 2 ? words[2] : nil, say))
    default: throw Usage()
    }
  }

  /// Does what is typed, until `quit` or the end of the input.
  private static func follow(_ terminal: Terminal) async throws {
    try await terminal.store.start()
    try await terminal.show()
    while let line = readLine() {
      if line == "quit" { break }
      do {
        try await obey(line, terminal)
      } catch {
        say("\(error)")
      }
    }
    try await terminal.end()
  }

  private static func obey(_ line: String, _ terminal: Terminal) async throws {
    let words = line.split(separator: " ", maxSplits: 1).map(String.init)
    let names = (words.dropFirst().first ?? "").components(separatedBy: " = ")
    switch (words.first, names.first, names.count) {
    case ("add", let text?, 1): try await terminal.add(text)
    case ("done", let text?, 1): try await terminal.finish(text)
    case ("rename", let text?, 2): try await terminal.rename(text, to: names[1])
    case ("remove", let text?, 1): try await terminal.remove(text)
    case ("offline", _, _): try await terminal.goOffline()
    case ("online", _, _): try await terminal.goOnline()
    case ("show", _, _): break
    case ("refused", _, _): return try await terminal.showRefused()
    case ("retry", _, _): try await terminal.retryRefused()
    case ("discard", _, _): try await terminal.discardRefused()
    default: return say("add, done, rename, remove, offline, online, show, refused, retry, discard, quit")
    }
    try await terminal.show()
  }

  /// Prints a line at once, also into a pipe, where `print` would wait for more.
  @Sendable private static func say(_ line: String) {
    FileHandle.standardOutput.write(Data("\(line)\n".utf8))
  }
}
