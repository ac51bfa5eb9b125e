internal import MartletJSONTree
internal import MartletRuntime
internal import MartletStore
internal import MartletVocabulary

extension TreeService {
  // MARK: What sessions leave

  /// Keeps a write for the end of the owner's session. `completion` runs on the loop, when it is durable.
  func leave(
    _ write: LeftWrite, of owner: String, _ left: LeftNumbers,
    _ completion: @escaping (Result<Void, TreeRefusal>) -> Void
  ) {
    var write = write
    write.grace = min(max(0, write.grace), limits.longestGrace.wholeNanoseconds / 1_000_000)
    leases.granted(owner, grace: write.grace)
    let (writing, kept, refusal) = (writing, Lock<Int64?>(nil), Lock<TreeRefusal?>(nil))
    let operation = WriteOperation.work { [write] transaction in
      do {
        let number = try writing.leave(write, of: owner, left, in: transaction)
        left.insert(number)
        kept.withLock { $0 = number }
      } catch {
        if let error = error as? TreeRefusal { refusal.withLock { $0 = error } }
        throw error
      }
    }
    let done = LoopBound(completion, on: loop)
    destination.commit(
      StoreSubmission(WriteRequest(operation)) { result in
        // A write that was too large for the log has a number and was not kept.
        if case .failure = result, let number = kept.withLock({ $0 }) { left.remove([number]) }
        done.value(result.map { _ in }.mapError { error in refusal.withLock { $0 } ?? .store(error) })
      })
  }

  /// Drops what the owner has left at and below a path. `completion` gets how many writes those were.
  func cancelLeft(
    at path: TreePath, of owner: String, _ left: LeftNumbers,
    _ completion: @escaping (Result<Int, TreeRefusal>) -> Void
  ) {
    guard leases.hasWrites(owner) else { return completion(.success(0)) }
    let (writing, dropped) = (writing, Lock<[Int64]>([]))
    let operation = WriteOperation.work { transaction in
      let numbers = try writing.cancel(at: path, of: owner, in: transaction)
      dropped.withLock { $0 = numbers }
    }
    let done = LoopBound(completion, on: loop)
    destination.commit(
      StoreSubmission(WriteRequest(operation)) { result in
        let numbers = dropped.withLock { $0 }
        if case .success = result { left.remove(numbers) }
        done.value(result.map { _ in numbers.count }.mapError { .store($0) })
      })
  }

  // MARK: Expiry

  /// A session of the owner has ended.
  func detach(_ owner: String) {
    leases.detach(owner, at: loop.now)
    expireSoon()
  }

  /// Waits for the clients of an earlier process. Called once, on one loop of the server.
  package func recoverLeases() {
    let done = LoopBound(self, on: loop)
    store.read(
      [
        ReadRequest(
          read: { snapshot throws(StoreError) -> [String: Set<Int64>] in
            var owners: [String: Set<Int64>] = [:]
            for owner in try snapshot.deferredOwners() {
              owners[owner] = Set(try snapshot.deferredWrites(of: owner).map { LeftWrite($0.body)?.grace ?? 0 })
            }
            return owners
          },
          completion: { result in
            let service = done.value
            guard let owners = try? result.get() else { return service.recoverLater() }
            service.leases.adopt(owners, at: service.loop.now, grace: service.limits.resumeGrace)
            service.expireSoon()
          })
      ], to: destination)
  }

  private func recoverLater() {
    loop.schedule(at: loop.now + .seconds(1)) { [weak self] in self?.recoverLeases() }
  }

  /// Makes what is due when this turn of the loop is over: sessions that end in one turn are one commit.
  private func expireSoon() {
    guard !isExpirySet else { return }
    isExpirySet = true
    let done = LoopBound(self, on: loop)
    loop.execute { done.value.expire() }
  }

  private func expire() {
    isExpirySet = false
    let due = leases.begin(at: loop.now)
    if !due.isEmpty { commit(due) }
    leaseTimer?.cancel()
    leaseTimer = leases.deadline.map { deadline in
      loop.schedule(at: deadline) { [weak self] in self?.expire() }
    }
  }

  private func commit(_ due: [TreeLeases.Due]) {
    let writing = writing
    let operation = WriteOperation.series { transaction in
      for entry in due { try writing.expire(entry, in: transaction) }
    }
    let done = LoopBound(self, on: loop)
    destination.commit(
      StoreSubmission(WriteRequest(operation)) { result in
        let service = done.value
        switch result {
        case .success: service.leases.ended()
        // The next process waits for these clients.
        case .failure(let error) where error.code == .closed: return service.leases.ended()
        case .failure: service.leases.ended(failed: due, later: service.loop.now + .seconds(1))
        }
        service.expireSoon()
      })
  }
}
