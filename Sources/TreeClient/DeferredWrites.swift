import MartletJSON
import MartletJSONTree
import MartletTreeWire

/// The writes that the server makes when this client's connection ends.
struct DeferredWrites: Sendable {
  struct Write: Sendable {
    var path: TreePath
    var content: TreeClient.Content
    /// Registered again on each later connection.
    var repeats: Bool
    /// For how many milliseconds the server waits for this client to come back.
    var grace: Int64?
    fileprivate var isRegistered = false
    /// Whether the application still waits for the first registration.
    fileprivate var isAwaited = true

    init(path: TreePath, content: TreeClient.Content, repeats: Bool, grace: Int64? = nil) {
      self.path = path
      self.content = content
      self.repeats = repeats
      self.grace = grace
    }
  }

  private var writes: [Int64: Write] = [:]

  mutating func add(_ id: Int64, _ write: Write) { writes[id] = write }

  /// Drops the writes at and below a path. `id` names the request, whose answer is awaited like a registration.
  mutating func cancel(below path: TreePath, _ id: Int64) {
    writes = writes.filter { !path.contains($0.value.path) }
    writes[id] = Write(path: path, content: .put(.null), repeats: false)
  }

  /// Takes the server's answer to a registration; nil when the request is another one.
  mutating func answered(_ id: Int64, _ answer: TreeAnswer) -> [TreeClient.Action]? {
    guard let write = writes[id] else { return nil }
    writes[id]?.isRegistered = true
    writes[id]?.isAwaited = false
    if !answer.isOK { writes[id] = nil }
    let registered: [TreeClient.Action] = answer.isOK ? [.registered(id)] : []
    guard write.isAwaited else { return registered }
    return registered + [.settled(id, TreeClient.Settlement(answer, value: .null))]
  }

  /// The connection has ended. The server has made the writes, or will: they are not made twice unless the application
  /// asked for it.
  mutating func disconnect() {
    writes = writes.filter { $0.value.repeats || !$0.value.isRegistered }
    for id in writes.keys { writes[id]?.isRegistered = false }
  }

  /// What is registered with each connection, in order.
  var repeated: [(id: Int64, write: Write)] {
    writes.sorted { $0.key < $1.key }.filter { $0.value.repeats }.map { ($0.key, $0.value) }
  }
}
