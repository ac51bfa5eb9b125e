import MartletJSON
package import MartletJSONTree
import MartletTreeWire
package import MartletVocabulary

extension TreeClient {
  /// Asks the server for a value; without a connection the question waits for one, until `stopWaiting`.
  package mutating func get(_ path: TreePath, _ window: Window, now: Instant) -> (id: Int64, actions: [Action]) {
    let id = nextID()
    reads[id] = Query(path, window)
    return (id, follow(sent: wire.request(id, .get(path, window), now: now)))
  }

  /// What a read asks for; nil when it has ended.
  package func query(ofRead id: Int64) -> Query? { reads[id] }

  /// Ends a read that the server has not answered, with what is known.
  package mutating func stopWaiting(_ id: Int64, cached: CachedValue? = nil) -> [Action] {
    guard let query = reads.removeValue(forKey: id) else { return [] }
    return [.read(id, known(query, cached: cached))]
  }

  /// The last known value of a query, without asking the server.
  ///
  /// - Parameter cached: what a cache has of it.
  package func known(_ query: Query, cached: CachedValue? = nil) -> Reading {
    let listens = listening.listens
    return listening.engine.known(
      query, revision: listens.revisions[query], seen: listens.seen(query), orElse: cached)
  }
}

extension TreeEngine {
  /// The last known value of a query, without asking the server.
  ///
  /// - Parameters:
  ///   - revision: up to which the server's value is known here.
  ///   - seen: when it was last known to be the server's.
  ///   - cached: what a cache has of it.
  func known(
    _ query: TreeClient.Query, revision: String?, seen: Int64?, orElse cached: TreeClient.CachedValue?
  ) -> TreeClient.Reading {
    let isAcknowledged = !writes.touches(query.path)
    if query.window.isUnbounded, let node = value(at: query.path) {
      return .cache(node, revision: revision, seen: seen, isAcknowledged: isAcknowledged)
    }
    let stored = serverValue(at: query.path, query.window).map {
      TreeClient.CachedValue(node: $0, revision: revision, seen: seen)
    }
    guard let found = stored ?? cached else { return .unknown }
    return .cache(
      withWrites(found.node, query), revision: found.revision, seen: found.seen, isAcknowledged: isAcknowledged)
  }

  /// What the server has answered to a read.
  func reading(_ query: TreeClient.Query, _ answer: TreeAnswer) -> TreeClient.Reading {
    guard answer.isOK else { return .refused(status: answer.status, reason: answer.reason) }
    guard let node = try? TreeReader(limits: .largest).read(answer.value, at: query.path) else {
      return .refused(status: "unreadable", reason: "the server's value cannot be read")
    }
    // Writes that were sent before the read may not have been made when it was answered: one reads one's own writes.
    let isAcknowledged = !writes.touches(query.path)
    let own = isAcknowledged ? node : withWrites(node, query)
    return .server(own, revision: answer.revision, isAcknowledged: isAcknowledged)
  }

  /// A query's value with the writes that the server has not answered.
  private func withWrites(_ node: TreeNode, _ query: TreeClient.Query) -> TreeNode {
    let node = writes.applyAll(to: node, at: query.path)
    let window = query.window
    return window.isUnbounded ? node : OrderedChildren(node, order: window.order).node(in: window)
  }
}
