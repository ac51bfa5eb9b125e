import Foundation
import Martlet
import MartletCommandLine
import MartletDataStore
import MartletRuntime
import MartletStore

/// A record of the store that processes share.
struct SharedNote: Model {
  var id: String
  var text: String
  enum CodingKeys: String, ModelKey { case id, text }
}

/// `martlet-lab share`: one of several processes on one DataStore, controlled by lines on its standard input. Tests
/// run several of them.
enum ShareCommand: Subcommand {
  static let specification = CommandSpecification(
    program: LabMain.name, name: "share",
    summary: "Open a DataStore that other processes have open too, and do what standard input says.",
    operands: [.init(name: "FILE", help: "the store's file")],
    options: [.init(name: "sync", value: "URL", help: "sync the store with the server there, as `shared`")],
    examples: [("martlet-lab share /tmp/notes.sqlite", "then lines: save ID TEXT, delete ID, watch, engine, quit")],
    discussion: """
      Answers with a line for each: saved ID, deleted ID, notes ID… after every change, engine. With a server, `status` \
      answers with `here` or `elsewhere` each time that the store is settled, after the process that syncs it.
      """)

  static func run(_ arguments: ParsedArguments) async throws -> ExitCode {
    guard let path = arguments.operands.first else { throw UsageError("Name the store's file.") }
    let client = try arguments.value("sync").map { text in
      guard let url = URL(string: text) else { throw UsageError("\(text) is not a URL.") }
      var connection = ConnectionConfiguration()
      connection.credentials = { _ in
        Credentials(headers: [(name: "Authorization", value: "shared")], payload: ["Authorization": "shared"])
      }
      return try GraphQLClient(url: url, configuration: connection)
    }
    let store = try DataStore(
      models: [SharedNote.self], storage: .file(path), sync: client.map { DataStoreSync($0.networkTransport) })
    let engine = EngineLock(path: path)
    var watching: [SpawnedTask] = []
    Console.out("open")
    while let line = readLine() {
      let words = line.split(separator: " ", maxSplits: 2).map(String.init)
      switch words.first {
      case "save" where words.count == 3:
        try await store.save(SharedNote(id: words[1], text: words[2]))
        Console.out("saved \(words[1])")
      case "delete" where words.count == 2:
        try await store.delete(SharedNote.self, withId: words[1])
        Console.out("deleted \(words[1])")
      case "watch":
        let stream = store.observeQuery(for: SharedNote.self, sort: .ascending(SharedNote.keys.id))
        watching.append(
          ConcurrentSpawner().spawn {
            do {
              for try await snapshot in stream {
                Console.out((["notes"] + snapshot.items.map(\.id)).joined(separator: " "))
              }
            } catch {
              Console.out("failed \(error)")
            }
          })
      case "status":
        try await store.start()
        let statuses = store.syncStatuses
        watching.append(
          ConcurrentSpawner().spawn {
            for await status in statuses where status.isSettled {
              Console.out(status.isElsewhere ? "elsewhere" : "here")
            }
          })
      case "engine":
        if try engine.take() { Console.out("engine") } else { try engine.wait { Console.out("engine") } }
      case "quit": return .success
      default: Console.out("unknown \(line)")
      }
    }
    return .success
  }
}
