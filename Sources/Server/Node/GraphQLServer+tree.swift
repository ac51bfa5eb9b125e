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
    let prepared = try prepared(treeRules: text)
    prepared.use()
    await trees.recheck()
  }

  /// Rules of the tree that were read and checked, and are not in force yet.
  struct PreparedRules: Sendable {
    fileprivate let policy: TreePolicy
    fileprivate let rules: RuleSet

    /// Reads other rules of a tree beside the first one, without any effect.
    static func of(_ space: TreeNamespaceDeclaration, _ node: ServerNode) throws(ServerError) -> PreparedRules {
      guard case .space(let found) = node.namespaces.find(space.name) else {
        throw ServerError(.treeRules, "There is no namespace \"\(space.name)\" whose rules could be replaced.")
      }
      do throws(ServerError) {
        return PreparedRules(policy: found.policy, rules: try ServerAssembly.treeRules(space.rules, node.limits))
      } catch {
        throw ServerError(.treeRules, "The namespace \"\(space.name)\": \(error.description)")
      }
    }

    /// Puts them in force. It cannot fail.
    func use() { policy.replace(rules) }
  }

  /// Reads other rules of the tree, without any effect.
  func prepared(treeRules text: String) throws(ServerError) -> PreparedRules {
    guard let policy = node.tree else {
      throw ServerError(.treeRules, "The server was started without rules and serves no tree.")
    }
    return PreparedRules(policy: policy, rules: try ServerAssembly.treeRules(text, node.limits))
  }
}
