internal import MartletRuntime
internal import MartletStore

extension GraphQLServer {
  /// The trees beside the first one, to which others can be added while the server runs.
  public var trees: ServerTrees { ServerTrees(server: self) }
}

/// The trees beside a server's first one.
public struct ServerTrees: Sendable {
  let server: GraphQLServer

  /// Declares a tree, or gives a declared one other rules, while the server runs. It is kept in the first store, so
  /// that later starts have it too.
  ///
  /// ```swift
  /// try await server.trees.declare("staging", rules: #"{"rules": {".read": true}}"#)
  /// ```
  ///
  /// Suspends until the declaration is durable and every loop has begun to judge its listeners by the rules.
  ///
  /// - Throws: `ServerError` (`treeRules`) for a name or rules that cannot be used, for one tree more than the limit
  ///   `tree.namespaces`, and when the server serves no tree; `data` when it cannot be kept.
  public func declare(_ name: String, rules text: String) async throws(ServerError) {
    let node = server.node
    guard node.tree != nil else {
      throw ServerError(.treeRules, "The server was started without rules and serves no tree.")
    }
    let rules = try ServerAssembly.treeRules(text, node.limits)
    try node.namespaces.check(name)
    let operation = WriteOperation.transaction { try $0.define("namespace", name, Array(text.utf8)) }
    let result = await withCheckedContinuation { (done: CheckedContinuation<Result<Receipt, StoreError>, Never>) in
      node.store.commit(WriteRequest(operation)) { done.resume(returning: $0) }
    }
    if case .failure(let error) = result { throw ServerError(.data, error.description) }
    try node.namespaces.declare(name, rules)
    await recheck()
  }

  /// Judges the listeners of every tree by the rules in force.
  func recheck() async {
    for loop in server.loops {
      await withCheckedContinuation { continuation in
        loop.loop.execute {
          for tree in loop.value.trees?.services ?? [] { tree.recheck() }
          loop.value.channels?.recheckRules()
          TreeJudge(service: loop.value.services[0]).recheck()
          continuation.resume()
        }
      }
    }
  }
}
