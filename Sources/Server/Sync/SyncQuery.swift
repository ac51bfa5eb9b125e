internal import MartletAccess
internal import MartletChangeFeed
internal import MartletJSON
internal import MartletModels
internal import MartletStore

/// One page of a sync query: what it shows, and where it begins.
///
/// Every page is read in one snapshot of the store, and says which. Without `lastSync`, or when the log has forgotten
/// what came after it or is damaged there, the pages have all records and then the deletions that are still known, from
/// which a client of AppSync's protocol learns what is gone; otherwise what has changed since, each record once per
/// page.
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
  /// Whether the caller's filter selects deletions at all.
  private let wantsDeletions: Bool
  /// What the rules allow the caller; nil where nothing restricts it.
  let outcome: RuleOutcome?
  /// Changes of other models after which a page ends.
  private let passedChanges: Int
  /// Bytes of records after which a page ends.
  private let pageBytes: Int

  init(
    _ model: ModelDefinition, _ arguments: JSONObject, _ outcome: RuleOutcome?, _ limits: ServerLimits.Query
  ) throws {
    self.model = model
    self.outcome = outcome
    passedChanges = limits.passedChanges
    pageBytes = limits.syncPageBytes
    func filter(deleted: JSONValue) throws -> Predicate {
      var reader = FilterReader(model, FilterLimits(limits))
      reader.deleted = deleted
      return try reader.read(arguments["filter"])
    }
    let (ofLive, ofDeleted) = (try filter(deleted: .null), try filter(deleted: true))
    shown = try outcome?.checked(ofLive, for: .sync, of: model) ?? ofLive
    gone = try outcome?.checked(ofDeleted, for: .sync, of: model) ?? ofDeleted
    wantsDeletions = ofDeleted != .none
    lastSync = arguments["lastSync"]?.int
    let asked = arguments["limit"]?.int ?? Int64(limits.pageItems)
    guard asked > 0 else { throw FilterError(path: "limit", message: "must be positive") }
    limit = Int(min(asked, Int64(limits.largestPage)))
    token = try arguments["nextToken"]?.string.map { text in
      guard let token = SyncToken(text), token.isOf(model) else { throw Self.invalidToken }
      return token
    }
  }

  private static let invalidToken = StoreError(.invalidToken, "nextToken is not one of this sync query")

  /// A page as it is read.
  struct Page: Sendable {
    struct Item: Sendable {
      /// The record as the caller sees it.
      var record: Record
      /// The record itself, hidden fields included, which rules of relations read.
      var whole: Record
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
    case .deletions(_, let since, let place):
      return try deletions(snapshot, since: since, after: place, startedAt: token.startedAt, head)
    case .changes(_, let offset):
      guard let page = try changes(snapshot, after: offset, startedAt: token.startedAt) else {
        throw StoreError(.invalidToken, "the changes since lastSync cannot be read; sync all records")
      }
      return page
    }
  }

  private func firstPage(_ snapshot: ReadSnapshot, _ head: Int64, _ time: Int64) throws(StoreError) -> Page {
    guard let lastSync else {
      return try counted(try records(snapshot, nil, startedAt: time, deletionsSince: 0, head), snapshot)
    }
    if let offset = try snapshot.offset(before: lastSync),
      let page = try changes(snapshot, after: offset, startedAt: time)
    {
      return page
    }
    // A caller that has been away for longer than deletions are kept replaces what it has; one of AppSync's protocol
    // learns at least of those that are known.
    return try counted(try records(snapshot, nil, startedAt: time, deletionsSince: lastSync, head), snapshot)
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
    let list = try snapshot.list(
      ListQuery(model: model.number, filter: shown, limit: limit, bytes: pageBytes, token: token))
    var page = Page(startedAt: startedAt, position: head, isReplacement: true)
    page.items = list.records.map { stored in
      item(stored.record, version: stored.version, changed: stored.changed, isDeleted: false)
    }
    if let next = list.token {
      page.next = SyncToken(.records(token: next), startedAt: startedAt, deletionsSince: deletionsSince)
    } else if wantsDeletions, let deletionsSince,
      try !snapshot.tombstones(model.number, since: deletionsSince, after: nil, count: 1).isEmpty
    {
      page.next = SyncToken(.deletions(of: model.name, since: deletionsSince, after: []), startedAt: startedAt)
    }
    return page
  }

  private func deletions(
    _ snapshot: ReadSnapshot, since time: Int64, after place: [UInt8], startedAt: Int64, _ head: Int64
  ) throws(StoreError) -> Page {
    let found = try snapshot.tombstones(
      model.number, since: time, after: place, count: limit, bytes: pageBytes)
    var page = Page(startedAt: startedAt, position: head, isReplacement: true)
    page.items = found.filter { gone.matches($0.image) }.map { tombstone in
      item(tombstone.image, version: tombstone.version, changed: tombstone.time, isDeleted: true)
    }
    let isFull = found.count == limit || found.reduce(0) { $0 + $1.image.size } >= pageBytes
    if isFull, let last = found.last {
      page.next = SyncToken(.deletions(of: model.name, since: time, after: last.place), startedAt: startedAt)
    }
    return page
  }

  // MARK: Changes

  /// A page of changes; nil where the log is damaged, which the store has reported, or the model was dropped meanwhile
  /// and is there again: no change says that its records have gone.
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
      case .changes(_, _, _, let lost) where lost[model.number] != nil: return nil
      case .changes(let changes, var last, let head, _):
        passed += changes.count
        for change in changes {
          if change.record?.model == model.number { collapsed.add(change) }
          // A page is full at the end of a transaction, which is never divided.
          if change.endsTransaction, isFull(collapsed), change.offset != changes.last?.offset {
            last = change.offset
            break
          }
        }
        let isEnd = last >= head || last == through
        through = last
        guard isEnd || isFull(collapsed) || passed >= passedChanges else { continue }
        var page = Page(startedAt: startedAt, position: through, isReplacement: false)
        page.items = collapsed.results.map { result in
          item(result.record, version: result.version, changed: result.time, isDeleted: result.isGone)
        }
        if !isEnd { page.next = SyncToken(.changes(of: model.name, after: through), startedAt: startedAt) }
        return page
      }
    }
  }

  private func isFull(_ changes: CollapsedChanges) -> Bool {
    changes.count >= limit || changes.size >= pageBytes
  }

  private func item(_ record: Record, version: Int64, changed: Int64, isDeleted: Bool) -> Page.Item {
    Page.Item(
      record: outcome?.masked(record, for: .sync) ?? record, whole: record, version: version, changed: changed,
      isDeleted: isDeleted)
  }
}

extension SyncToken {
  /// Whether the token can be one of a sync of this model. The list's own token is judged by the list.
  fileprivate func isOf(_ model: ModelDefinition) -> Bool {
    switch place {
    case .records: true
    case .deletions(let name, _, _), .changes(let name, _): name.hasSameBytes(as: model.name)
    }
  }
}
