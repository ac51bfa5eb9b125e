internal import MartletAccess
internal import MartletChangeFeed
internal import MartletJSON
internal import MartletModels
internal import MartletStore

/// One page of a sync query: what it shows, and where it begins.
///
/// Every page is read in one snapshot of the store, and says which. Without `lastSync`, or when the log has forgotten
/// what came after it or is damaged there, the pages have all records; otherwise what has changed since, each record
/// once per page.
struct SyncQuery: Sendable {
  let model: ModelDefinition
  let limit: Int
  /// The time that the caller's last sync began at, in milliseconds.
  let lastSync: Int64?
  let token: SyncToken?
  /// The records that the caller's filter and the rules select.
  let shown: Predicate
  /// The records whose deletion is shown to the caller, by their last image.
  let gone: Predicate
  /// What the rules allow the caller; nil where nothing restricts it.
  let outcome: RuleOutcome?
  /// Changes of other models that a page passes over at most: about 20 ms of reading.
  private static let passedChanges = 16_384

  init(
    _ model: ModelDefinition, _ arguments: JSONObject, _ outcome: RuleOutcome?, _ limits: ServerLimits.Query
  ) throws {
    self.model = model
    self.outcome = outcome
    func predicate(deleted: JSONValue) throws -> Predicate {
      var reader = FilterReader(model)
      reader.deleted = deleted
      let filter = try reader.read(arguments["filter"])
      return try outcome?.checked(filter, for: .sync, of: model) ?? filter
    }
    shown = try predicate(deleted: .null)
    gone = try predicate(deleted: true)
    lastSync = arguments["lastSync"]?.int
    let asked = arguments["limit"]?.int ?? Int64(limits.pageItems)
    guard asked > 0 else { throw FilterError(path: "limit", message: "must be positive") }
    limit = Int(min(asked, Int64(limits.largestPage)))
    token = try arguments["nextToken"]?.string.map { text in
      guard let token = SyncToken(text) else { throw Self.invalidToken }
      return token
    }
  }

  private static let invalidToken = StoreError(.invalidToken, "nextToken is not one of a sync query")

  /// A page as it is read.
  struct Page: Sendable {
    struct Item: Sendable {
      var record: Record
      var version: Int64
      var changed: Int64
      var isDeleted: Bool
    }

    var items: [Item] = []
    var next: SyncToken?
    var startedAt: Int64
    /// The offset that the page shows the records at.
    var position: Int64
    var isReplacement: Bool
    /// How many records all pages have; nil where that is not known.
    var expected: Int?
  }

  func page(_ snapshot: ReadSnapshot) throws(StoreError) -> Page {
    let (head, time) = try snapshot.moment()
    guard let token else { return try firstPage(snapshot, head, time) }
    switch token.place {
    case .records(let list):
      return try records(snapshot, list, startedAt: token.startedAt, deletionsSince: token.deletionsSince, head)
    case .deletions(let since, let place):
      return try deletions(snapshot, since: since, after: place, startedAt: token.startedAt, head)
    case .changes(let offset):
      guard let page = try changes(snapshot, after: offset, startedAt: token.startedAt) else {
        throw StoreError(.invalidToken, "the changes since lastSync cannot be read; sync all records")
      }
      return page
    }
  }

  private func firstPage(_ snapshot: ReadSnapshot, _ head: Int64, _ time: Int64) throws(StoreError) -> Page {
    guard let lastSync else {
      return try counted(try records(snapshot, nil, startedAt: time, deletionsSince: nil, head), snapshot)
    }
    if let offset = try snapshot.offset(before: lastSync),
      let page = try changes(snapshot, after: offset, startedAt: time)
    {
      return page
    }
    // The deletions since then are still known, or the caller has been away for longer than they are kept.
    let isKnown = try snapshot.tombstonesBefore() <= lastSync
    return try counted(
      try records(snapshot, nil, startedAt: time, deletionsSince: isKnown ? lastSync : nil, head), snapshot)
  }

  /// The first page of all records, with how many there are.
  private func counted(_ page: Page, _ snapshot: ReadSnapshot) throws(StoreError) -> Page {
    var page = page
    if case .records? = page.next?.place {
      page.expected = try snapshot.count(model.number, where: shown)
    } else {
      page.expected = page.items.count
    }
    return page
  }

  // MARK: All records

  private func records(
    _ snapshot: ReadSnapshot, _ token: String?, startedAt: Int64, deletionsSince: Int64?, _ head: Int64
  ) throws(StoreError) -> Page {
    let list = try snapshot.list(ListQuery(model: model.number, filter: shown, limit: limit, token: token))
    var page = Page(startedAt: startedAt, position: head, isReplacement: true)
    page.items = list.records.map { stored in
      item(stored.record, version: stored.version, changed: stored.changed, isDeleted: false)
    }
    if let next = list.token {
      page.next = SyncToken(.records(token: next), startedAt: startedAt, deletionsSince: deletionsSince)
    } else if let deletionsSince {
      page.next = SyncToken(.deletions(since: deletionsSince, after: []), startedAt: startedAt)
    }
    return page
  }

  private func deletions(
    _ snapshot: ReadSnapshot, since time: Int64, after place: [UInt8], startedAt: Int64, _ head: Int64
  ) throws(StoreError) -> Page {
    let found = try snapshot.tombstones(model.number, since: time, after: place, count: limit)
    var page = Page(startedAt: startedAt, position: head, isReplacement: true)
    page.items = found.filter { gone.matches($0.image) }.map { tombstone in
      item(tombstone.image, version: tombstone.version, changed: tombstone.time, isDeleted: true)
    }
    if found.count == limit, let last = found.last {
      page.next = SyncToken(.deletions(since: time, after: last.place), startedAt: startedAt)
    }
    return page
  }

  // MARK: Changes

  /// A page of changes; nil where the log is damaged, which the store has reported.
  private func changes(
    _ snapshot: ReadSnapshot, after start: Int64, startedAt: Int64
  ) throws(StoreError) -> Page? {
    var collapsed = CollapsedChanges(shown: shown, gone: gone)
    var through = start
    var passed = 0
    while true {
      switch try snapshot.log(after: through, changes: limit) {
      case .gap:
        throw StoreError(.invalidToken, "the changes since lastSync are no longer kept; sync all records")
      case .damaged: return nil
      case .changes(let changes, let last, let head):
        passed += changes.count
        for change in changes where change.record?.model == model.number { collapsed.add(change) }
        let isEnd = last >= head || last == through
        through = last
        guard isEnd || collapsed.count >= limit || passed >= Self.passedChanges else { continue }
        var page = Page(startedAt: startedAt, position: through, isReplacement: false)
        page.items = collapsed.results.map { result in
          item(result.record, version: result.version, changed: result.time, isDeleted: result.isGone)
        }
        if !isEnd { page.next = SyncToken(.changes(after: through), startedAt: startedAt) }
        return page
      }
    }
  }

  private func item(_ record: Record, version: Int64, changed: Int64, isDeleted: Bool) -> Page.Item {
    Page.Item(
      record: outcome?.masked(record, for: .sync) ?? record, version: version, changed: changed, isDeleted: isDeleted)
  }
}
