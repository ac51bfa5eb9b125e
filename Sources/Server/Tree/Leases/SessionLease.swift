internal import MartletJSON
internal import MartletJSONTree
internal import MartletStore

/// What one connection leaves for its end. Confined to its loop.
final class SessionLease {
  private let service: TreeService
  /// Names the client over its connections.
  private let owner: String
  private let left = LeftNumbers()
  private var isOpen = true
  /// Whether credentials have ended since the session began, so that what was left with them may be anyone's.
  private var hasWithdrawn = false

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

  /// The credentials of the caller are no longer accepted: what was left with them is made as a guest.
  func withdrawn(_ caller: TreeCaller) {
    guard !caller.auth.isNull || caller.isAdministrator else { return }
    hasWithdrawn = true
    note(caller, isWithdrawn: true)
  }

  /// The caller has shown credentials that are accepted; what it left with others is its own again.
  func authenticated(_ caller: TreeCaller) {
    if hasWithdrawn { note(caller, isWithdrawn: false) }
  }

  private func note(_ caller: TreeCaller, isWithdrawn: Bool) {
    guard service.leases.hasWrites(owner) else { return }
    let (writing, owner) = (service.writing, owner)
    let operation = WriteOperation.work { transaction in
      try writing.note(caller, isWithdrawn: isWithdrawn, of: owner, in: transaction)
    }
    // A store that takes no writes makes none of those that were left either.
    service.destination.commit(StoreSubmission(WriteRequest(operation)) { _ in })
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
