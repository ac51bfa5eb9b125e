internal import MartletRuntime
package import MartletVocabulary

/// Which clients have left writes for the end of their sessions, and when those are due. From any thread.
///
/// A session that ends is waited for: each of its writes is due after the grace it was left with, unless the client
/// comes back before. The first of several waits a step longer, and what is due within that step is due with it:
/// sessions that end together are one commit.
/// That a client is here, or is waited for, is in no log; what it has left is.
package final class TreeLeases: Sendable {
  /// Writes of one client that are to be made now: those with at most this grace, in milliseconds.
  package struct Due: Hashable, Sendable {
    package var owner: String
    package var grace: Int64

    package init(owner: String, grace: Int64) {
      self.owner = owner
      self.grace = grace
    }
  }

  private struct Owner {
    var sessions = 0
    /// The graces of the writes it has left.
    var graces: Set<Int64> = []
    /// Counts its returns: what waited for an earlier one is void.
    var returns = 0
  }

  private struct Waiting {
    var due: Due
    var returns: Int
  }

  private struct State {
    var owners: [String: Owner] = [:]
    var waiting: [Instant: [Waiting]] = [:]
    /// The moments at which something is due, in order.
    var deadlines: [Instant] = []
    /// Whether a commit is under way; what becomes due meanwhile goes into the next one.
    var isExpiring = false
    /// Whether the writes that were left before this process began are known.
    var isLoaded = false

    /// What waits is due at this moment, or with something that is due at most `step` later.
    mutating func add(_ entry: Waiting, at moment: Instant, step: Duration) {
      let place = place(of: moment)
      if place < deadlines.count, deadlines[place] <= moment + step {
        waiting[deadlines[place], default: []].append(entry)
        return
      }
      let deadline = moment + step
      deadlines.insert(deadline, at: self.place(of: deadline))
      waiting[deadline] = [entry]
    }

    /// The place of the first deadline that is not before `moment`.
    private func place(of moment: Instant) -> Int {
      var (low, high) = (0, deadlines.count)
      while low < high {
        let middle = (low + high) / 2
        if deadlines[middle] < moment { low = middle + 1 } else { high = middle }
      }
      return low
    }
  }

  private let state = Lock(State())
  private let step: Duration
  private let most: Int

  /// - Parameters:
  ///   - step: how much longer the first waits, for others that end with it.
  ///   - most: clients whose writes one commit makes.
  package init(step: Duration, most: Int) {
    self.step = max(.zero, step)
    self.most = most
  }

  // MARK: Sessions

  /// A session of this client has begun.
  package func attach(_ owner: String) {
    state.withLock { state in
      state.owners[owner, default: Owner()].sessions += 1
      state.owners[owner]?.returns += 1
    }
  }

  /// A session of this client has ended.
  package func detach(_ owner: String, at now: Instant) {
    state.withLock { state in
      guard var known = state.owners[owner], known.sessions > 0 else { return }
      known.sessions -= 1
      state.owners[owner] = known.sessions == 0 && known.graces.isEmpty ? nil : known
      if known.sessions == 0 { wait(for: owner, known, from: now, &state) }
    }
  }

  /// A session has ended because the server stops: the next process waits for the client.
  package func leave(_ owner: String) {
    state.withLock { $0.owners[owner] = nil }
  }

  /// The client leaves a write that waits for so many milliseconds.
  package func granted(_ owner: String, grace: Int64) {
    state.withLock { state in
      state.owners[owner, default: Owner()].graces.insert(grace)
      return
    }
  }

  /// Whether the client may have left writes.
  package func hasWrites(_ owner: String) -> Bool {
    state.withLock { state in
      !state.isLoaded || state.owners[owner].map { !$0.graces.isEmpty } ?? false
    }
  }

  /// Takes what clients of an earlier process have left: each is waited for, for `grace` at least.
  package func adopt(_ owners: [String: Set<Int64>], at now: Instant, grace: Duration) {
    let least = grace.wholeNanoseconds / 1_000_000
    state.withLock { state in
      state.isLoaded = true
      for (name, graces) in owners {
        state.owners[name, default: Owner()].graces.formUnion(graces)
        guard let known = state.owners[name], known.sessions == 0 else { continue }
        wait(for: name, known, from: now, atLeast: least, &state)
      }
    }
  }

  private func wait(
    for owner: String, _ known: Owner, from now: Instant, atLeast least: Int64 = 0, _ state: inout State
  ) {
    for grace in known.graces {
      let milliseconds = max(grace, least)
      state.add(
        Waiting(due: Due(owner: owner, grace: grace), returns: known.returns), at: now + .milliseconds(milliseconds),
        step: milliseconds > 0 ? step : .zero)
    }
  }

  // MARK: Expiry

  /// The next moment at which something may be due; nil while a commit is under way.
  package var deadline: Instant? {
    state.withLock { $0.isExpiring ? nil : $0.deadlines.first }
  }

  /// What is due at `now`, for one commit that begins; `ended` ends it. Empty while another one is under way.
  package func begin(at now: Instant) -> [Due] {
    state.withLock { state in
      guard !state.isExpiring else { return [] }
      var due: [Due] = []
      var ended = 0
      for deadline in state.deadlines {
        guard deadline <= now, due.count < most else { break }
        var rest: [Waiting] = []
        for waiting in state.waiting[deadline] ?? [] {
          guard let owner = state.owners[waiting.due.owner], owner.sessions == 0, owner.returns == waiting.returns
          else { continue }
          if due.count < most { due.append(waiting.due) } else { rest.append(waiting) }
        }
        state.waiting[deadline] = rest.isEmpty ? nil : rest
        if rest.isEmpty { ended += 1 }
      }
      // Only the last that was looked at can have a rest.
      state.deadlines.removeFirst(ended)
      for entry in due {
        state.owners[entry.owner]?.graces.remove(entry.grace)
        if state.owners[entry.owner]?.graces.isEmpty == true { state.owners[entry.owner] = nil }
      }
      state.isExpiring = !due.isEmpty
      return due
    }
  }

  /// A commit has ended.
  ///
  /// - Parameters:
  ///   - failed: what could not be made, and is tried again at `later`, unless the client is back by then.
  package func ended(failed: [Due] = [], later: Instant = .zero) {
    state.withLock { state in
      state.isExpiring = false
      for due in failed {
        state.owners[due.owner, default: Owner()].graces.insert(due.grace)
        let returns = state.owners[due.owner]?.returns ?? 0
        state.add(Waiting(due: due, returns: returns), at: later, step: .zero)
      }
    }
  }
}
