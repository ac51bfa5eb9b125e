internal import MartletChangeFeed
internal import MartletChannels
internal import MartletJSONTree
internal import MartletRuntime
internal import MartletStore
internal import MartletTreeRules
internal import MartletVocabulary

/// The events of one node of the tree, derived from the log. Confined to its loop.
///
/// The node is read once; from then on each transaction of the log is applied to what is in memory. While the channel
/// has no room nothing is followed; what was committed meanwhile is read from the log later.
final class NodeSource: ChannelSourcing {
  private weak var channel: Channel?
  private let tools: ChannelTools
  private let path: TreePath
  private let events: ChannelEvents
  private let carriesData: Bool
  private let access: NodeAccess
  private var follower: NodeFollower?
  /// Transactions up to here were taken.
  private var offset: Int64 = 0
  /// What a page of the log ended in the middle of.
  private var unfinished: [NodeWrite] = []
  private var isReading = false
  private var isStopped = false

  init(
    _ channel: Channel, _ path: TreePath, _ events: ChannelEvents, carriesData: Bool, _ access: NodeAccess
  ) {
    self.channel = channel
    tools = channel.tools
    self.path = path
    self.events = events
    self.carriesData = carriesData
    self.access = access
  }

  private var feed: Feed { tools.feed }

  var followed: Int64? { follower == nil || isReading ? nil : offset }

  func stop() { isStopped = true }

  // MARK: Beginning

  func begin(after cursor: Cursor?) {
    guard let cursor else { return read(since: nil, gap: nil) }
    switch feed.judge(cursor) {
    case .valid: read(since: cursor.offset, gap: nil)
    case .gap(let reason): read(since: nil, gap: (reason, cursor))
    }
  }

  /// Reads the node, and follows the log after an offset, or from where the read finds it.
  private func read(since offset: Int64?, gap: (reason: GapReason, from: Cursor)?) {
    isReading = true
    let bound = LoopBound(self, on: tools.loop)
    access.read(path, leaves: tools.limits.nodeLeaves, from: feed) { result in
      bound.value.received(result, since: offset, gap: gap)
    }
  }

  private func received(
    _ result: Result<NodeAccess.Found, NodeAccess.Failure>, since offset: Int64?,
    gap: (reason: GapReason, from: Cursor)?
  ) {
    isReading = false
    guard !isStopped, let channel else { return }
    switch result {
    case .failure(.ended(let reason)): channel.fail(reason)
    case .failure(.later):
      tools.loop.schedule(at: tools.loop.now + feed.limits.readRetry) { [weak self] in
        guard let self, !self.isStopped else { return }
        self.read(since: offset, gap: gap)
      }
    case .success(let found):
      let keys = offset == nil ? nil : channel.machine.keys
      let follower = NodeFollower(
        path, events, carriesData: carriesData, node: found.node, at: found.head, keys: keys)
      self.follower = follower
      self.offset = offset ?? found.head
      let present = events == .valueChange ? nil : NodeFollower.keys(of: found.node)
      if let gap {
        channel.gap(gap.reason.wireName, from: gap.from, to: tools.cursor(at: found.head), keys: present)
      } else if offset == nil {
        channel.begin(at: found.head, keys: present)
      }
      resume()
    }
  }

  // MARK: Following

  func apply(_ batch: ChangeBatch) {
    // What was committed before the channel began is taken from memory or the log.
    if let followed, followed >= batch.firstOffset - 1, followed < batch.lastOffset, channel?.hasRoom == true {
      take(batch.changes.after(followed), through: batch.lastOffset)
    }
    resume()
  }

  func resume() {
    while !isReading, !isStopped, follower != nil, channel?.hasRoom == true {
      switch CatchUp.next(from: feed.cursor(at: offset), in: feed.situation) {
      case .live: return
      case .ring(let offset):
        // What the ring dropped in this moment is read from the log in the next step.
        guard let batches = feed.store.recent.batches(after: offset, bytes: feed.limits.catchUpBytes),
          let last = batches.last
        else { continue }
        take(batches.flatMap { $0.changes.after(offset) }[...], through: last.lastOffset)
      case .log(let offset):
        guard let page = feed.pages.page(after: offset) else { return readLog(after: offset) }
        take(page.changes, through: page.last)
      case .gap(let reason): return read(since: nil, gap: (reason, feed.cursor(at: offset)))
      }
    }
  }

  private func readLog(after offset: Int64) {
    isReading = true
    feed.pages.read(after: offset) { [weak self] gap in
      guard let self, !self.isStopped else { return }
      self.isReading = false
      if let gap { return self.read(since: nil, gap: (gap, self.feed.cursor(at: offset))) }
      self.resume()
    }
  }

  /// Takes changes up to an offset, as far as the channel has room.
  private func take(_ changes: ArraySlice<Change>, through last: Int64) {
    for change in changes {
      if let tree = change.tree, follows(tree.path) {
        unfinished.append(NodeWrite(path: tree.path, node: tree.node))
      }
      guard change.endsTransaction else { continue }
      finish(change)
      offset = change.offset
      guard channel?.hasRoom == true, !isStopped else { return }
    }
    // A page may end inside a transaction, whose beginning is kept.
    offset = max(offset, last)
  }

  private func follows(_ path: TreePath) -> Bool { self.path.contains(path) || path.contains(self.path) }

  private func finish(_ change: Change) {
    guard !unfinished.isEmpty, let channel else { return }
    let writes = unfinished
    unfinished = []
    guard let step = follower?.take(writes, at: change.offset) else { return }
    let cursor = tools.cursor(at: change.offset)
    let events = step.found.map { channel.body.event($0, at: cursor, time: change.time) }
    if !events.isEmpty || !step.existence.isEmpty {
      channel.skip(to: change.offset - 1)
      channel.append(ChannelTransaction(offset: change.offset, events: events, existence: step.existence))
    }
    measure()
  }

  /// Ends the channel when its node has become too large. Leaves that were overwritten count twice until they are
  /// counted again, which an eighth more of them than the limit asks for.
  private func measure() {
    let most = tools.limits.nodeLeaves
    guard let leaves = follower?.leaves, leaves > most + most / 8 else { return }
    follower?.measure()
    if let leaves = follower?.leaves, leaves > most { channel?.fail(NodeAccess.tooLarge) }
  }
}

/// Reads nodes for channels, under the rules of the channel's owner.
struct NodeAccess: Sendable {
  struct Found: Sendable {
    var node: TreeNode
    var head: Int64
  }

  enum Failure: Error {
    /// The channel ends.
    case ended(String)
    /// The store is overloaded or closing.
    case later
  }

  static let tooLarge = "the node has more leaves than the limit channels.nodeLeaves"

  let policy: TreePolicy
  let caller: TreeCaller
  let milliseconds: Int64

  /// - Parameter completion: runs on the feed's loop.
  func read(
    _ path: TreePath, leaves: Int, from feed: Feed,
    _ completion: @escaping @Sendable (Result<Found, Failure>) -> Void
  ) {
    let (rules, caller, now) = (policy.rules, caller, milliseconds)
    let request = ReadRequest { (snapshot: ReadSnapshot) throws(StoreError) -> Result<Found, Failure> in
      if !caller.isAdministrator {
        let context = RuleContext(auth: caller.auth, now: now, data: StoredTree(tree: snapshot.tree))
        do {
          if case .denied = try rules.read(at: path, context) {
            return .failure(.ended("the rules do not allow its owner to read the node"))
          }
        } catch {
          throw (error as? StoreError) ?? StoreError(.failed, "\(error)")
        }
      }
      do throws(StoreError) {
        let node = try snapshot.tree.node(at: path, in: .all, limit: leaves)
        return .success(Found(node: node, head: try snapshot.head()))
      } catch {
        if error.code == .invalid { return .failure(.ended(Self.tooLarge)) }
        throw error
      }
    } completion: { (result: Result<Result<Found, Failure>, StoreError>) in
      switch result {
      case .success(let found): completion(found)
      case .failure(let error): completion(.failure(error.isRetryable ? .later : .ended(error.description)))
      }
    }
    feed.store.read([request], to: feed.destination)
  }
}
