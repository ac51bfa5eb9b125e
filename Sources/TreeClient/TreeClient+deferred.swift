import MartletJSON
package import MartletJSONTree
import MartletTreeWire
package import MartletVocabulary

extension TreeClient {
  /// A write that the server makes when this client's connection ends.
  struct DeferredWrite: Sendable {
    var path: TreePath
    var content: Content
    /// Registered again on each later connection.
    var repeats: Bool
    /// For how many milliseconds the server waits for this client to come back.
    var grace: Int64?
    var isRegistered = false
    /// Whether the application still waits for the first registration.
    var isAwaited = true
  }

  /// Registers a write that the server makes when the connection ends; in their order, once for each connection.
  ///
  /// - Parameter grace: the write waits for so many milliseconds for this client to come back; nil does not wait.
  package mutating func deferWrite(
    _ content: Content, at path: TreePath, repeats: Bool, grace: Int64? = nil, now: Instant
  ) throws(TreeError) -> (id: Int64, actions: [Action]) {
    let reader = TreeReader(limits: limits, serverValues: ServerValues(milliseconds: 0))
    switch content {
    case .put(let json): _ = try reader.read(json, at: path)
    case .merge(let object): _ = try reader.readMerge(object, at: path)
    }
    let id = nextID()
    let write = DeferredWrite(path: path, content: content, repeats: repeats, grace: grace)
    deferred[id] = write
    return (id, register(id, write, now))
  }

  private mutating func register(_ id: Int64, _ write: DeferredWrite, _ now: Instant) -> [Action] {
    let request: TreeRequest =
      switch write.content {
      case .put(let json): .deferredPut(write.path, json)
      case .merge(let object): .deferredMerge(write.path, object)
      }
    return follow(sent: wire.request(id, request, now: now, grace: write.grace))
  }

  /// Drops the deferred writes at and below a path.
  package mutating func cancelDeferred(at path: TreePath, now: Instant) -> (id: Int64, actions: [Action]) {
    deferred = deferred.filter { !path.contains($0.value.path) }
    let id = nextID()
    deferred[id] = DeferredWrite(path: path, content: .put(.null), repeats: false)
    return (id, follow(sent: wire.request(id, .cancelDeferred(path), now: now)))
  }

  mutating func registered(_ id: Int64, _ answer: TreeAnswer) -> [Action] {
    guard let write = deferred[id] else { return [] }
    deferred[id]?.isRegistered = true
    deferred[id]?.isAwaited = false
    if !answer.isOK { deferred[id] = nil }
    let again: [Action] = answer.isOK ? [.registered(id)] : []
    guard write.isAwaited else { return again }
    let settlement: Settlement =
      answer.isOK
      ? .acknowledged(revision: answer.revision, value: .null)
      : .rejected(status: answer.status, reason: answer.reason)
    return again + [.settled(id, settlement)]
  }

  /// On a new connection: what is registered with every one. Writes that wait for their answer are repeated by the
  /// protocol's machine.
  mutating func registerDeferredAgain(_ now: Instant) -> [Action] {
    var actions: [Action] = []
    for (id, write) in deferred.sorted(by: { $0.key < $1.key }) where write.repeats && !wire.isUnanswered(id) {
      actions += register(id, write, now)
    }
    return actions
  }
}
