import MartletJSON
package import MartletJSONTree
import MartletTreeWire
package import MartletVocabulary

extension TreeClient {
  /// Registers a write that the server makes when the connection ends; in their order, once for each connection.
  ///
  /// - Parameter grace: the write waits for so many milliseconds for this client to come back; nil does not wait.
  package mutating func deferWrite(
    _ content: Content, at path: TreePath, repeats: Bool, grace: Int64? = nil, now: Instant
  ) throws(TreeError) -> (id: Int64, actions: [Action]) {
    let reader = TreeReader(limits: limits, serverValues: ServerValues(milliseconds: 0))
    _ = try content.read(by: reader, at: path)
    let id = nextID()
    let write = DeferredWrites.Write(path: path, content: content, repeats: repeats, grace: grace)
    deferred.add(id, write)
    return (id, register(id, write, now))
  }

  private mutating func register(_ id: Int64, _ write: DeferredWrites.Write, _ now: Instant) -> [Action] {
    follow(sent: wire.request(id, write.content.deferredRequest(at: write.path), now: now, grace: write.grace))
  }

  /// Drops the deferred writes at and below a path.
  package mutating func cancelDeferred(at path: TreePath, now: Instant) -> (id: Int64, actions: [Action]) {
    let id = nextID()
    deferred.cancel(below: path, id)
    return (id, follow(sent: wire.request(id, .cancelDeferred(path), now: now)))
  }

  /// On a new connection: what is registered with every one. Writes that wait for their answer are repeated by the
  /// protocol's machine.
  mutating func registerDeferredAgain(_ now: Instant) -> [Action] {
    var actions: [Action] = []
    for (id, write) in deferred.repeated where !wire.isUnanswered(id) { actions += register(id, write, now) }
    return actions
  }
}
