import Foundation
import MartletCommandLine
import MartletSQLite

/// `martlet-lab bench`: measures one part of Martlet by itself, in processor time, and prints one line of JSON per
/// figure. The scripts in `Benchmarks` run it beside its peers.
enum BenchCommand: Subcommand {
  private static let workloads =
    "graphql, json, store, cache, tree, window, live, decode, first, windows, changes, save, sync, crowd or floor"

  static let specification = CommandSpecification(
    program: LabMain.name, name: "bench",
    summary: "Measure one part of Martlet by itself: \(workloads).",
    operands: [.init(name: "WORKLOAD", help: workloads)],
    options: [
      .init(
        name: "files", value: "DIR", help: "graphql: folder with schema, query and data (default Benchmarks/GraphQL)"),
      .init(name: "operations", value: "N", help: "graphql, json, tree: operations per figure (default 20000)"),
      .init(name: "children", value: "N", help: "tree: children of the largest node (default 1000000)"),
      .init(name: "data", value: "DIR", help: "store: a new folder for the data"),
      .init(name: "group", value: "N", help: "store: writes in each group commit (default 64)"),
      .init(name: "in-flight", value: "N", help: "store: instead of fixed groups, this many writes waiting at a time"),
      .init(name: "tree", value: nil, help: "store: with --in-flight, nodes of the tree in place of records"),
      .init(name: "path", value: "PATH", help: "window: the node whose last fifty children are followed"),
      .init(name: "records", value: "N", help: "cache: records in the client's store, thousands (default 1000)"),
      .init(
        name: "file", value: "FILE",
        help: "cache, decode, first, sync: a new SQLite file for the records; otherwise they are in memory"),
      .init(name: "writes", value: "N", help: "store: writes in all (default 20000)"),
      .init(
        name: "rows", value: "N", help: "live, decode, first, windows, changes: records in the store (default 10000)"),
      .init(name: "queries", value: "N", help: "windows: live queries (default 1000)"),
      .init(name: "changes", value: "N", help: "changes: changes of each place (default 20000)"),
      .init(name: "commits", value: "N", help: "live: commits per figure and round (default 1000)"),
      .init(name: "batch", value: "N", help: "save, changes: records in each transaction (default 1, and 32)"),
      .init(
        name: "url", value: "URL",
        help: "window, sync, crowd: the server; sync and crowd need the model of Benchmarks/lines/sync.py"),
      .init(name: "members", value: "N", help: "crowd: synced stores, each with three live queries (default 400)"),
      .init(name: "port", value: "N", help: "floor: the port to serve subscribers on"),
      .init(name: "frame", value: "FILE", help: "floor: the text of one event, with marks for what changes"),
    ],
    examples: [
      ("martlet-lab bench graphql", "parse, validate and execute a query of 30 fields, with and without a plan kept"),
      ("martlet-lab bench store --data /tmp/bench --group 64", "durable writes in groups of 64"),
    ])

  static func run(_ arguments: ParsedArguments) async throws -> ExitCode {
    let operations = try arguments.integer("operations", in: 1...1_000_000_000) ?? 20_000
    switch arguments.operands.first {
    case "graphql":
      try GraphQLWorkload.run(folder: arguments.value("files") ?? "Benchmarks/GraphQL", operations: operations)
    case "json": try JSONWorkload.run(operations: operations)
    case "store": try await runStore(arguments)
    case "cache":
      try await CacheWorkload.run(
        records: try arguments.integer("records", in: 1_000...10_000_000) ?? 1_000, file: arguments.value("file"))
    case "live":
      try await LiveWorkload.run(
        rows: try arguments.integer("rows", in: 1_000...10_000_000) ?? 10_000,
        commits: try arguments.integer("commits", in: 1...1_000_000) ?? 1_000)
    case "decode":
      guard let file = arguments.value("file") else { throw UsageError("bench decode needs --file FILE.") }
      try await DecodeWorkload.run(file: file, rows: try arguments.integer("rows", in: 1_000...10_000_000) ?? 10_000)
    case "first":
      guard let file = arguments.value("file") else { throw UsageError("bench first needs --file FILE.") }
      try await FirstWorkload.run(file: file, rows: try arguments.integer("rows", in: 1_000...10_000_000) ?? 10_000)
    case "windows":
      try await WindowMemoryWorkload.run(
        rows: try arguments.integer("rows", in: 2_000...10_000_000) ?? 10_000,
        queries: try arguments.integer("queries", in: 10...100_000) ?? 1_000)
    case "changes":
      try await ChangesWorkload.run(
        rows: try arguments.integer("rows", in: 50_000...10_000_000) ?? 100_000,
        changes: try arguments.integer("changes", in: 100...40_000) ?? 20_000,
        batch: try arguments.integer("batch", in: 1...40) ?? 32)
    case "save":
      guard let folder = arguments.value("data") else { throw UsageError("bench save needs --data DIR.") }
      try SaveWorkload.run(
        folder: folder, writes: try arguments.integer("writes", in: 1...100_000_000) ?? 20_000,
        batch: try arguments.integer("batch", in: 1...100_000) ?? 1)
    case "sync":
      try await SyncWorkload.run(url: try server(arguments), file: arguments.value("file"))
    case "crowd":
      try await CrowdWorkload.run(
        url: try server(arguments), members: try arguments.integer("members", in: 1...10_000) ?? 400)
    case "tree":
      TreeWorkload.run(
        operations: operations, largest: try arguments.integer("children", in: 100...10_000_000) ?? 1_000_000)
    case "window":
      guard let url = arguments.value("url"), let path = arguments.value("path") else {
        throw UsageError("bench window needs --url URL and --path PATH.")
      }
      try await WindowWorkload.run(url: url, path: path)
    case "floor":
      guard let port = try arguments.integer("port", in: 0...65_535), let frame = arguments.value("frame") else {
        throw UsageError("bench floor needs --port N and --frame FILE.")
      }
      try FloorSender.run(port: port, frame: try NamedFile.text(frame))
    case let other?:
      throw UsageError("There is no workload '\(other)': \(workloads).")
    case nil: throw UsageError("Name a workload: \(workloads).")
    }
    return .success
  }

  private static func server(_ arguments: ParsedArguments) throws -> URL {
    guard let url = arguments.value("url").flatMap({ URL(string: $0) }) else {
      throw UsageError("The workload needs --url URL.")
    }
    return url
  }

  private static func runStore(_ arguments: ParsedArguments) async throws {
    guard let folder = arguments.value("data") else { throw UsageError("bench store needs --data DIR.") }
    // As `martlet serve` does.
    SQLiteProcess.stopCountingAllocations()
    let writes = try arguments.integer("writes", in: 1...100_000_000) ?? 20_000
    if let inFlight = try arguments.integer("in-flight", in: 1...16_384) {
      try await StoreWorkload.runThreaded(
        folder: folder, inFlight: inFlight, writes: writes, isTree: arguments.has("tree"))
    } else {
      let group = try arguments.integer("group", in: 1...256) ?? 64
      try StoreWorkload.runGroups(folder: folder, group: group, writes: writes)
    }
  }
}
