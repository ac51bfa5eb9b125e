internal import MartletJSON
internal import MartletJSONTree

/// What one connection leaves for its end. Confined to its loop.
final class SessionLease {
  private let service: TreeService
  /// Names the client over its connections.
  private let owner: String
  private let left = LeftNumbers()
  private var isOpen = true

  /// A session begins; what its client has left before stays until this session ends.
  init(_ service: TreeService, owner: String) {
    self.service = service
    self.owner = owner
    service.leases.attach(owner)
  }

  func leave(_ write: LeftWrite, _ completion: @escaping (Result<Void, TreeRefusal>) -> Void) {
    service.leave(write, of: owner, left, completion)
  }

  func cancel(at path: TreePath, _ completion: @escaping (Result<Int, TreeRefusal>) -> Void) {
    service.cancelLeft(at: path, of: owner, left, completion)
  }

  /// The session has ended.
  ///
  /// - Parameter byServer: because the server stops: nothing is made, and the next process waits for the client.
  func end(byServer: Bool) {
    guard isOpen else { return }
    isOpen = false
    if byServer { service.leases.leave(owner) } else { service.detach(owner) }
  }
}
