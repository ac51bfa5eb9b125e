internal import MartletChangeFeed
internal import MartletDataStore
internal import MartletGraphQLClient
internal import MartletJSON
internal import MartletSimulation
internal import MartletVocabulary

/// The checkers of one story: they are called with what happens, and compare at the end. What they compare is in
/// `Checks+end`.
final class Checks {
  struct WriteName: Hashable {
    var client: String
    var number: Int64
  }

  /// Up to where a client was to have everything, in which history of the server.
  struct Mark {
    var offset: Int64
    var copies: Int
    var views: Int
  }

  /// What the server has applied.
  struct Applied {
    var titles: Set<String> = []
    /// Where the server applied the write that brought a title.
    var places: [String: Int64] = [:]
    /// Where the server applied each numbered write.
    var offsets: [WriteName: Int64] = [:]
    /// The last number that was applied of one client's writes to one record.
    var numbers: [String: Int64] = [:]
  }

  struct Seen: Hashable {
    var client: Int
    var process: Int
    var id: String
  }

  weak var world: World?
  private(set) var violations: [Violation] = []
  private(set) var intents: [Intent] = []
  /// Writes of each client's process whose end its disk does not have yet.
  private var unrecorded: [Int: [Intent]] = [:]
  /// Words in requests to which the server has given an outcome that it remembers.
  private(set) var judged: Set<String> = []
  /// Words of writes that were among the refused ones.
  private(set) var lettered: Set<String> = []
  /// Words of refused writes that the application has made again.
  private(set) var retriedWords: Set<String> = []
  /// Records of which an application has made a refused write again, whose new write has no handle here.
  private var retriedRecords: [Int: Set<String>] = [:]
  /// Titles that an application has written by more than one write.
  var repeated: Set<String> = []
  private(set) var applied = Applied()
  private var versions: [Seen: Int64] = [:]
  private var feed = FeedHistory()
  /// Clients whose stores have had everything since their subscription began.
  private var followed: Set<Int> = []
  private var gaps = GapHistory()
  private var marks: [Int: Mark] = [:]
  /// How often the rules have come to show callers other records.
  var views = 0
  /// The server has forgotten deletions, or runs on an older copy: versions restart, and outcomes are unknown.
  private(set) var versionsRestart = false
  /// The server remembers no outcome of a write up to this offset.
  private var forgotten: Int64 = 0
  /// How often the server was put on an older copy of its data.
  private(set) var copies = 0
  private(set) var lastItems: [Int: [Row]] = [:]

  func fail(_ check: Violation.Check, _ text: String) {
    world?.record("VIOLATION \(check.rawValue): \(text)")
    violations.append(Violation(check: check, text: text))
  }

  // MARK: Writes

  func intend(_ client: WorldClient, _ id: String, _ word: String, _ field: Intent.Field) -> Intent {
    let intent = Intent(client: client.index, id: id, word: word, field: field, order: intents.count)
    intents.append(intent)
    return intent
  }

  func accepted(_ intent: Intent, _ handle: WriteHandle?) {
    intent.isAccepted = true
    intent.handle = handle
    if let handle, !handle.isDecided { unrecorded[intent.client, default: []].append(intent) }
  }

  /// A piece of work of the client's store has ended, and the process lives: its disk has what came of it.
  func worked(_ client: WorldClient) {
    guard unrecorded[client.index]?.isEmpty == false else { return }
    unrecorded[client.index]?.removeAll { $0.handle?.isDecided ?? true }
  }

  /// P11: what was saved is seen at once, unless an earlier write on which it builds was refused meanwhile.
  func echo(
    _ client: WorldClient, _ intent: Intent, saved: (title: String, tags: [String]?),
    seen: (title: String, tags: [String]?)?
  ) {
    if intent.handle?.end != nil { return }
    guard let seen else {
      return fail(.localEcho, "\(client.name) saved \(intent.id) \(intent.word) and does not see it")
    }
    let hasTitle = intent.field == .tags || seen.title == intent.word
    let hasTags = intent.field == .title || (seen.tags ?? []).contains(intent.word)
    if !hasTitle || !hasTags {
      fail(.localEcho, "\(client.name) saved \(intent.id) \(intent.word) and sees \(seen.title) \(seen.tags ?? [])")
    }
  }

  /// The server has answered a mutation.
  func served(_ request: OperationRequest, _ caller: String, _ response: JSONValue, head: Int64) {
    let input = request.variables["input"]
    let title = input?["title"]?.string
    let words = (input?["tags"]?.array ?? []).compactMap(\.string) + (title.map { [$0] } ?? [])
    let code = response["errors"]?[0]?["extensions"]?["code"]?.string
    world?.record("server answers \(caller) \(input?["id"]?.string ?? "?") \(words.last ?? "") \(code ?? "")")
    if let code { world?.count("refused \(code)") }
    guard let write = request.extensions["martlet"]?["write"], let number = write["number"]?.int,
      let client = write["client"]?.string
    else { return fail(.idempotence, "\(caller) sends a write without a number") }
    for word in words { judged.insert(word) }
    let name = WriteName(client: client, number: number)
    if write["acknowledged"]?.int == 0, let known = applied.offsets[name], known <= forgotten {
      // A client's first writes are not marked as sent again. A server that has forgotten them takes them for new.
      applied.offsets[name] = nil
      if let title { repeated.insert(title) }
    }
    guard code == nil else { return }
    let text = response["extensions"]?["martlet"]?["cursor"]?.string
    if let title { applied.titles.insert(title) }
    guard let cursor = text.flatMap({ Cursor($0) }) else { return }
    if let known = applied.offsets[name] {
      if known != cursor.offset {
        fail(.idempotence, "\(caller)'s write \(number) is applied at \(known) and \(cursor.offset)")
      }
      return
    }
    applied.offsets[name] = cursor.offset
    // Another application's title comes with a whole record that is created again.
    if let title, caller.hasSuffix(String(title.prefix { $0 != "." })), !repeated.contains(title) {
      if let known = applied.places[title] {
        fail(
          .idempotence, "\(caller)'s write of \(title) is applied at \(known) and, as \(number), at \(cursor.offset)")
      }
      applied.places[title] = cursor.offset
    }
    guard cursor.offset > head, let id = input?["id"]?.string else { return }
    let record = "\(client) \(id)"
    if let last = applied.numbers[record], last > number {
      fail(.sessions, "\(caller)'s writes \(last) and \(number) of \(id) are applied in this order")
    }
    applied.numbers[record] = number
  }

  func letters(_ letters: [RejectedWrite], _ client: WorldClient) {
    for letter in letters { lettered.formUnion(letter.words) }
  }

  /// The application makes a refused write again.
  func retried(_ letter: RejectedWrite, _ client: WorldClient) {
    for intent in intents where intent.client == client.index && intent.id == letter.modelId {
      intent.isReplaced = true
    }
    lettered.subtract(letter.words)
    mayBeRetried(letter, client)
  }

  /// The application's process has ended while it made a refused write again: the disk has that, or has not.
  func mayBeRetried(_ letter: RejectedWrite, _ client: WorldClient) {
    let words = letter.words
    retriedWords.formUnion(words)
    repeated.formUnion(words)
    retriedRecords[client.index, default: []].insert(letter.modelId)
  }

  // MARK: What clients see

  func started(_ client: WorldClient) {
    gaps.end(client.index)
    lastItems[client.index] = nil
    for intent in unrecorded.removeValue(forKey: client.index) ?? [] { intent.isUnrecorded = true }
  }

  /// A subscription of the client begins.
  func subscribes(_ client: WorldClient, resumes: Bool) {
    followed.remove(client.index)
    if resumes { gaps.end(client.index) }
  }

  func gap(_ client: WorldClient, _ gap: EventGap) {
    world?.record("\(client.name) gets \(gap.reason.rawValue)")
    gaps.begin(client.index, at: world?.executor.now)
    feed.forget(client: client.index)
  }

  /// Everything after `cursor` is sent to the client from now on; `views` was this when the server said so.
  func ready(_ client: WorldClient, _ cursor: Cursor, views: Int) {
    marks[client.index] = Mark(offset: cursor.offset, copies: copies, views: views)
  }

  func event(_ client: WorldClient, _ event: DataStoreEvent) {
    switch event {
    case .modelSynced(let name, let isFull, _, _, _, _):
      world?.count(isFull ? "full sync" : "delta sync")
      if isFull { gaps.sync(client.index, name) }
    case .ready:
      world?.count("ready")
      let rest = gaps.rest(client.index, at: world?.executor.now)
      if !rest.isEmpty {
        fail(.discontinuity, "\(client.name) is ready after a gap without a full sync of \(rest)")
      }
    case .outboxMutationFailed(_, let reason): world?.count("write failed: \(reason.name)")
    case .conditionalSaveFailed: world?.count("conditional save failed")
    case .terminated(let error):
      world?.count("terminated")
      world?.record("\(client.name) terminated: \(error)")
    case .failed: world?.count("attempt failed")
    case .modelTruncated: world?.count("truncated")
    case .networkStatus, .subscriptionsEstablished, .syncQueriesStarted, .syncQueriesReady, .syncStarted, .syncReceived,
      .outboxMutationEnqueued, .outboxMutationProcessed, .outboxStatus:
      break
    }
  }

  /// P1, P3, P13: what the server sends of a record is newer each time, and comes once.
  func observed(_ client: WorldClient, _ process: Int, _ event: MutationEvent) {
    world?.record(
      "\(client.name) \(event.source.rawValue) \(event.mutationType.rawValue) \(event.modelId) "
        + "v\(event.version ?? 0)\(event.isAcknowledged ? "" : " pending")")
    guard let version = event.version, !versionsRestart else { return }
    let place = Seen(client: client.index, process: process, id: event.modelId)
    if let last = versions[place], version < last {
      let check: Violation.Check = event.source == .live ? .order : .sessions
      fail(check, "\(client.name) sees \(event.modelId) at version \(version) after \(last)")
    }
    versions[place] = version
    if !feed.take(event, version: version, at: place) {
      fail(.noDuplicate, "\(client.name) gets \(event.modelId) v\(version) twice")
    }
  }

  /// P6: a snapshot is the one before it with its changes.
  func snapshot(_ client: WorldClient, before: [Row], _ changes: DataStoreChanges, after: [Row]) {
    lastItems[client.index] = after
    if let difference = changes.difference(from: before, to: after) {
      fail(.snapshots, "\(client.name): \(difference)")
    }
  }

  /// P9: what waits in memory for a sync has a bound.
  func holds(_ client: WorldClient, _ count: Int) {
    if count > 0 { world?.count("changes held") }
    if count > WorldClient.heldChanges { fail(.bounds, "\(client.name) holds \(count) changes back") }
  }

  /// P7: a subscription never shows a transaction half. The pages of a sync come from several moments, and what the
  /// feed has beyond them has come once nothing is on its way.
  func accounts(_ client: WorldClient, _ amounts: [Int], isSynced: Bool) {
    guard isSynced else { return }
    guard followed.contains(client.index) else {
      if client.isQuiet { followed.insert(client.index) }
      return
    }
    compareSum(client, amounts)
  }

  func compareSum(_ client: WorldClient, _ amounts: [Int]) {
    guard let world else { return }
    let sum = amounts.reduce(0, +)
    if Int64(sum) != world.server.accountTotal {
      fail(.atomicity, "\(client.name) sees accounts with \(amounts), together \(sum)")
    }
  }

  /// P5: when a store says that it is ready, it has what was committed before the server said so.
  ///
  /// - Parameters:
  ///   - open: records with writes that were pending before or when `rows` were read.
  ///   - mark: up to where the server had sent everything.
  func startPoint(_ client: WorldClient, _ rows: [Row], _ open: Set<String>, at mark: Mark) {
    // What the mark stands for is gone where the server has been put on an older copy since. Where others may be read
    // since, the gap that says so can be on its way while the store is ready by what was sent before.
    guard let world, mark.copies == copies, mark.views == views else { return }
    let mine = open.union(openIds(client))
    for (id, last) in world.server.lastChanges
    where last.offset <= mark.offset && !mine.contains(id) {
      guard world.server.schema.shows(owner: last.owner, to: client.name) else { continue }
      let row = rows.first { $0.id == id }
      if row?.title != last.title {
        fail(
          .startPoint,
          "\(client.name) is ready at \(mark.offset), and has \(row?.title ?? "nothing") of \(id) \(last.title ?? "deleted")"
        )
      }
    }
  }

  /// The offset up to which the client was to have everything when its feed began.
  func mark(_ client: WorldClient) -> Mark? {
    gaps.isMet(client.index, at: world?.executor.now) ? nil : marks[client.index]
  }

  /// Records of which a write may still be pending in a client's store.
  func openIds(_ client: WorldClient) -> Set<String> {
    Set(intents.filter { $0.client == client.index && isOpen($0) }.map(\.id))
      .union(retriedRecords[client.index] ?? [])
  }

  /// Whether a write may still be pending in its store.
  private func isOpen(_ intent: Intent) -> Bool {
    guard let handle = intent.handle, handle.end?.reason != .closed, !intent.isUnrecorded else {
      return !applied.titles.contains(intent.word) && !lettered.contains(intent.word)
    }
    return !handle.isDecided
  }

  func deletionsForgotten(upTo offset: Int64) {
    versionsRestart = true
    forgotten = offset
  }

  /// The server runs on a copy of its data: what came after it has not happened.
  func serverRestored(_ then: Applied) {
    versionsRestart = true
    copies += 1
    applied = then
  }
}
