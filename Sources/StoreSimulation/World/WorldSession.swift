internal import MartletAccess
internal import MartletChangeFeed
internal import MartletGraphQLClient
internal import MartletJSON
internal import MartletServer
internal import MartletStore
internal import MartletVocabulary

/// A subscription at the server: what its caller may see, and how far it has been sent.
///
/// Stands for the feed and the sockets of the real server, which have a simulation of their own.
final class WorldSession {
  private unowned let world: World
  let link: WorldLink
  private let identity: Identity
  private var changes: SyncService.Changes?
  private var term: UInt64 = 0
  /// Everything up to here was sent or is not for this session.
  private(set) var since: Int64 = 0

  init(_ world: World, _ link: WorldLink, as identity: Identity) {
    self.world = world
    self.link = link
    self.identity = identity
  }

  /// Judges where the session begins, and sends what was missed.
  func begin(
    _ service: SyncService, _ store: Store, after cursor: Cursor?, view: String?
  ) -> Result<Void, SyncRefusal> {
    let found = service.changes(link.arguments, for: identity)
    guard case .success(let changes) = found else { return found.map { _ in () } }
    self.changes = changes
    let position = store.position
    term = position.term
    since = position.head
    guard let cursor else {
      ready()
      return .success(())
    }
    switch store.lineage.judge(cursor, firstKept: position.firstRetained, head: position.head) {
    case .gap(let reason):
      gap(reason == .retention ? .retention : .lineage, from: cursor)
    case .valid:
      guard changes.view == view else {
        gap(.viewChanged, from: cursor)
        return .success(())
      }
      guard let missed = world.server.changes(after: cursor.offset) else {
        gap(.retention, from: cursor)
        return .success(())
      }
      send(missed)
      ready()
    }
    return .success(())
  }

  private var cursor: Cursor { Cursor(term: term, offset: since) }

  private func ready() {
    let (cursor, view) = (cursor, changes?.view)
    sendLater(.ready(cursor, view: view, views: world.checks.views))
  }

  private func gap(_ reason: EventGap.Reason, from: Cursor?) {
    let gap = EventGap(reason, from: from, to: cursor)
    world.count("gap \(reason.rawValue)")
    sendLater(.gap(gap))
    ready()
  }

  /// Sends a message with the present work's end, unless the connection has gone by then.
  private func sendLater(_ message: WorldLink.Message) {
    world.server.sendLater { [self] in
      if world.server.serves(self) { link.send(message) }
    }
  }

  /// Sends what a commit has changed.
  func push(_ batch: ChangeBatch) {
    guard batch.lastOffset > since else { return }
    send(batch.changes)
    since = batch.lastOffset
  }

  /// Sends changes in whole transactions; the mark stands on the last one that is for this session.
  private func send(_ all: [Change]) {
    var transaction: [(value: JSONValue, offset: Int64)] = []
    for change in all {
      if let value = changes?.value(of: change) { transaction.append((value, change.offset)) }
      guard change.endsTransaction else { continue }
      for (place, event) in transaction.enumerated() {
        let payload: JSONValue = ["data": ["modelChanges": event.value]]
        let cursor = Cursor(term: term, offset: event.offset)
        let isLast = place == transaction.count - 1
        sendLater(.event(payload.serialized(), cursor, endsTransaction: isLast))
      }
      transaction = []
    }
  }

  /// Another schema is in force. P8: unless the rules show other records, the subscription continues.
  func recheck(_ service: SyncService, changesViews: Bool) {
    let next = service.changes(link.arguments, for: identity)
    if !changesViews, (try? next.get())?.view != changes?.view {
      world.checks.fail(.reload, "\(link.name)'s subscription does not outlive a reload")
    }
    switch next {
    case .failure(let refusal):
      world.server.sendLater { [link] in link.refused(refusal.error) }
      world.server.close(self)
    case .success(let next):
      let isSame = next.view == changes?.view
      changes = next
      if isSame { return }
      since = world.server.head
      gap(.viewChanged, from: nil)
    }
  }

  /// The connection is gone.
  func lose() { link.lost("the server is gone") }
}
