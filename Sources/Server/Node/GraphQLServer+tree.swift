internal import MartletRuntime
internal import MartletTreeRules

extension GraphQLServer {
  /// Puts other rules of the tree in force while the server runs, from the text of a rules file.
  ///
  /// Listeners that may no longer read are ended with a last event; the others continue without a lost or repeated
  /// event. Writes are judged by the new rules from now on. Suspends until every loop has begun to judge its listeners.
  ///
  /// - Throws: `ServerError` (`treeRules`) for rules that cannot be used, and when the server serves no tree. The old
  ///   rules stay in force then.
  public func reload(treeRules text: String) async throws(ServerError) {
    guard let policy = node.tree else {
      throw ServerError(.treeRules, "The server was started without rules and serves no tree.")
    }
    policy.replace(try ServerAssembly.treeRules(text, node.limits))
    for loop in loops {
      await withCheckedContinuation { continuation in
        loop.loop.execute {
          loop.value.tree?.recheck()
          continuation.resume()
        }
      }
    }
  }
}
