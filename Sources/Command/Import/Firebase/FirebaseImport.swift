import MartletChangeFeed
import MartletCommandLine
import MartletJSONTree
import MartletModelSDL
import MartletServer
import MartletStore
import MartletTreeRules

/// `martlet import SCHEMA EXPORT RULES --from firebase --data DIR`: the tree of a Realtime Database.
///
/// It writes into a data folder that no server uses: the rules of the old database need not allow it.
enum FirebaseImport {
  /// Writes of one commit: some tens of milliseconds of the disk.
  private static let writesAtOnce = 500

  static func run(_ arguments: ParsedArguments) async throws -> ExitCode {
    let (schema, file, rulesFile) = (arguments.operands[0], arguments.operands[1], arguments.operands[2])
    guard let folder = arguments.value("data") else {
      throw UsageError("--from firebase writes into a data folder that no server uses: name it with --data DIR.")
    }
    let rules = try NamedFile.text(rulesFile)
    let count = try check(rules, of: rulesFile)
    let base: TreePath
    do { base = try TreePath(arguments.value("at") ?? "/") } catch { throw UsageError("--at: \(error)") }
    var configuration = ServerConfiguration(schema: try NamedFile.text(schema))
    configuration.schemaName = schema
    configuration.data = .folder(folder)
    configuration.access = .development
    configuration.treeRules = rules
    configuration.log = .silent
    let server: GraphQLServer
    do { server = try GraphQLServer(configuration) } catch { throw CommandFailure(.io, error.description) }
    do {
      let leaves = try await write(file, at: base, replacing: arguments.has("restart"), server.node)
      await server.stop()
      Console.out("Imported \(Count.of(leaves, "leaf", "leaves")) into \(base) of \(folder).")
      Console.out("\(rulesFile) is good as it is: \(Count.of(count, "rule")). Serve it with --rules.")
      return .success
    } catch {
      await server.stop()
      throw error
    }
  }

  /// - Returns: how many rules the file has.
  /// - Throws: everything in the rules that cannot be expressed here, with its place and its rule.
  private static func check(_ rules: String, of path: String) throws(CommandFailure) -> Int {
    do {
      return try RuleSet(parsing: rules).rules.count
    } catch {
      let lines = error.problems.map { problem in
        "\(path):\(problem.position.line):\(problem.position.column): "
          + (problem.path.isEmpty ? "" : "\(problem.path): ") + problem.message
      }
      throw CommandFailure(
        .badData, "Nothing was imported: these rules cannot be expressed here.\n" + lines.joined(separator: "\n"))
    }
  }

  private static func write(
    _ file: String, at base: TreePath, replacing: Bool, _ node: ServerNode
  ) async throws -> Int {
    let source = try ByteSource(path: file)
    var reader = ExportReader(source, at: base, limits: TreeLimits())
    var bar = ProgressBar()
    // What is there is replaced by a write of its own, so that the first part cannot stand beside it.
    var waiting = [TreeChange(path: base, node: .empty)]
    let hasRecords = !node.models.models.isEmpty
    try await commit([], to: node, unlessEmpty: replacing ? nil : base)
    while true {
      let changes = try reader.next()
      if hasRecords, let change = changes.first(where: { isRecord($0) }) {
        throw CommandFailure(
          .badData,
          "\(change.path): a server with models shows their records at /models. Import below another path with --at, or "
            + "serve a schema without models.")
      }
      waiting += changes
      if waiting.count >= writesAtOnce || changes.isEmpty {
        try await commit(waiting, to: node)
        waiting = []
      }
      if changes.isEmpty { break }
      if let size = source.size, size > 0 {
        bar.show(fraction: Double(source.taken) / Double(size), rows: reader.leaves)
      }
    }
    bar.end()
    return reader.leaves
  }

  private static func isRecord(_ change: TreeChange) -> Bool {
    change.path.first == "models" || change.path.isRoot && change.node.hasChild("models")
  }

  /// Makes writes in one commit.
  ///
  /// - Parameter path: where nothing may stand yet.
  private static func commit(_ changes: [TreeChange], to node: ServerNode, unlessEmpty path: TreePath? = nil)
    async throws
  {
    let operation = WriteOperation.series { transaction in
      if let path, try transaction.tree.glimpse(at: path) != .absent {
        throw StoreError(
          .alreadyExists,
          "there is a value at \(path) already; import below another path with --at, or replace it with "
            + "--restart")
      }
      for change in changes { try transaction.put(change) }
    }
    let result = await withCheckedContinuation { (done: CheckedContinuation<Result<Receipt, StoreError>, Never>) in
      node.store.commit(WriteRequest(operation)) { done.resume(returning: $0) }
    }
    if case .failure(let error) = result { throw CommandFailure(.io, "The import stopped: \(error.message).") }
  }
}
