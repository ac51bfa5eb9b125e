internal import MartletJSON
internal import MartletRuntime
internal import MartletTreeClient

/// A value that is there while its client is. It ends by `end()`, and with the last reference to it.
public final class DatasyncPresence: Sendable {
  private let node: DatasyncNode
  private let isOver = Lock(false)
  private let token: PresenceToken

  init(_ node: DatasyncNode, _ json: JSONValue, _ grace: Duration) {
    self.node = node
    token = node.service.present(json, node.treePath, grace)
  }

  deinit { end() }

  /// Returns when the server has both the value and the write that removes it.
  /// - Throws: why one of them was refused.
  public func ready() async throws {
    try await token.removal.acknowledged()
    try await token.value.acknowledged()
  }

  /// Removes the value.
  public func end() {
    let isFirst = isOver.withLock { over in
      defer { over = true }
      return !over
    }
    if isFirst { node.service.absent(token, node.treePath) }
  }
}

/// What the service keeps of one presence.
struct PresenceToken: Sendable {
  let number: Int64
  let removal: DatasyncWrite
  let value: DatasyncWrite
}
