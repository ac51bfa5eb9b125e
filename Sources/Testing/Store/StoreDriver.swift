public import MartletJSON
internal import MartletLiveQueries
internal import MartletModelSDL
internal import MartletModels
internal import MartletSyncEngine
internal import MartletVocabulary

/// Plays a suite of steps against the DataStore's engine and live queries, without a network, a disk or a clock.
///
///     var driver = try StoreDriver(schema: "type Note @model @versioned { id: ID! text: String rank: Int }")
///     try driver.run(["type": "listen", "listener": "all", "model": "Note", "sort": ["text"]])
///     let events = try driver.run(["type": "save", "model": "Note", "record": ["id": "a", "text": "one"]])
///     // [{"type":"snapshot","listener":"all","items":[{"record":{…},"isPending":true}],"isFromCache":true,…}]
///
/// A step is an object with a `type`. What the application does:
///
/// | type | members |
/// | --- | --- |
/// | `listen` | `listener`, `model`, `where` (a filter in AppSync's syntax), `sort` (fields, `-field` downwards), `limit`, `offset` |
/// | `unlisten` | `listener` |
/// | `save` | `model`, `record`: the whole record, made or replaced; `where` |
/// | `update` | `model`, `key`, `fields`: these fields of a record that is there; `where` |
/// | `delete` | `model`, `key`; `where` |
/// | `transaction` | `writes`: steps of these three types, which are made together or not at all |
/// | `outbox` | nothing: an event for each write that waits for the server |
/// | `rejected` | nothing: an event for each write that the server has refused for good |
/// | `retry`, `discard` | `write`, the number of a refused one, which is made again or forgotten |
/// | `start`, `stop` | nothing |
/// | `restart` | nothing: the process is killed, and begins again with what is on disk; the listeners stay |
/// | `clear` | nothing: the store ends its sync, and deletes its records and what waits for the server |
/// | `reachable` | nothing: the network is there again |
/// | `resolve` | `write`, `with`: `remote`, `local` or a record |
/// | `advance` | `seconds` |
///
/// A write's `where` is its condition. A record that does not fulfil it is not written; the server judges it again.
///
/// What the server says:
///
/// | type | members |
/// | --- | --- |
/// | `subscribed` | `resumed` (false), `cursor` |
/// | `page` | `model`, `changes`, `position`, `startedAt`, `nextToken`, `cursor`, `isFull` |
/// | `changes` | `changes`, `cursor`: one transaction of the feed |
/// | `reset` | nothing: the feed cannot continue |
/// | `lost` | the connection is lost, or `reason` says why it is refused |
/// | `withdrawn` | nothing: the caller is refused with fresh credentials, too: the server's records leave the store |
/// | `ack` | `write`, and its record as a change; without one the record is as it was written, and hidden for `null` |
/// | `refuse` | `write`, `code`, `message` |
/// | `conflict` | `write`, and the server's record as a change |
/// | `fail` | `write`, `reason`, `condition` among them |
/// | `failPage` | `model`, `reason`: a page that was asked for does not come |
///
/// A `reason` is `network`, `overloaded` (with `retryAfter` in seconds), `unauthorized` (by the rules), `credentials`,
/// `fault`, or `refused` (with `code` and `message`): for good.
///
/// A change is `model`, `record` or, for a record that is gone, `key`, with `version` and `position`.
///
/// A step returns events, objects with a `type`: `snapshot` (`listener`, `items` of `record` and `isPending`,
/// `isFromCache`, `isSynced`, `inserted`, `deleted`, `moved`, `updated`), `subscribe` (`cursor`), `query` (`model`,
/// `since`, `token`), `upload` (`write`, `model`, `key`, `verb`, `fields`, `isConditional`), `waiting` (the same, and
/// `isSent`), `refused` (as `upload`, and `reason` with `code` and `message` or `dependsOn`), `write` (`write`, `fate`:
/// `sent`, `durable`, `seen`, `rejected`, `superseded`, `cleared`), `conflict` (`write`, `local`, `remote`), `wake`
/// (`seconds` from now, when the engine tries again by itself) and `terminated` (it does not, until a `start`).
public struct StoreDriver: Sendable {
  var store: DrivenStore
  var live = LiveQuerySet()
  var listeners: [Listener] = []
  var events: [JSONValue] = []
  private var engine: SyncEngine
  private var now = Instant(nanoseconds: 0)
  private var wakesAt: Instant?
  private var conflicts: [Int64: ServerImage] = [:]
  /// The writes that were refused or became needless.
  private var ended: Set<Int64> = []

  struct Listener: Sendable {
    var name: String
    var query: LiveQueryID
    var model: Int
    var isFromCache: Bool
    /// Whether the model's sync has finished since the start.
    var isSynced: Bool
  }

  /// A store of the models of a schema, which is not started.
  ///
  /// - Throws: when the schema cannot be read.
  public init(schema: String) throws(StoreDriverError) {
    do {
      store = DrivenStore(models: try ModelSchema(schema).models)
    } catch {
      throw StoreDriverError("the schema cannot be read: \(error)")
    }
    engine = store.makeEngine()
  }

  /// Plays one step, and returns what followed from it, in order; snapshots are last.
  ///
  /// - Throws: `StoreDriverError` when the step cannot be read; an event that is not expected is not an error.
  @discardableResult
  public mutating func run(_ step: JSONValue) throws(StoreDriverError) -> [JSONValue] {
    events = []
    store.begin()
    let reader = StoreStepReader(step: step, models: store.models)
    switch try reader.type() {
    case "listen": try listen(reader)
    case "unlisten":
      let name = try reader.text("listener")
      for listener in listeners where listener.name == name { live.remove(listener.query) }
      listeners.removeAll { $0.name == name }
    case "save", "update", "delete": try write([reader])
    case "transaction": try write(try reader.writes())
    case "outbox": for write in store.waiting { tell("waiting", write) }
    case "rejected": for write in store.rejected { tell("refused", write) }
    case "retry": try retry(try reader.number("write"))
    case "discard": store.discard(try reader.number("write"))
    case "start": handle(.start)
    case "stop": handle(.stop)
    case "restart":
      engine = store.makeEngine()
      (wakesAt, conflicts) = (nil, [:])
      handle(.start)
    case "clear":
      for number in engine.pendingNumbers { end(number, "cleared") }
      (wakesAt, conflicts) = (nil, [:])
      handle(.clear)
    case "reset":
      store.forgetProgress()
      handle(try reader.event("reset", engine.generation))
    case "withdrawn":
      store.withdraw()
      handle(.withdrawn(generation: engine.generation))
    case "reachable": handle(.reachable)
    case "advance": advance(try reader.seconds("seconds"))
    case "resolve": try resolve(reader)
    case "ack" where reader.hasNoRecord: try acknowledge(reader)
    case let type: handle(try reader.event(type, engine.generation))
    }
    show()
    return events
  }

  // MARK: The engine

  mutating func handle(_ event: SyncEvent) {
    var waiting = [event]
    while !waiting.isEmpty {
      let wall = now.nanoseconds / 1_000_000
      for action in engine.handle(waiting.removeFirst(), now: now, wall: wall) {
        if let event = perform(action) { waiting.append(event) }
      }
    }
  }

  private mutating func perform(_ action: SyncAction) -> SyncEvent? {
    switch action {
    case .subscribe: tell("subscribe", ["cursor": store.cursor.map { .string($0) } ?? .null])
    case .query(_, let model, let kind, let token, _):
      var since = JSONValue.null
      if case .delta(let time) = kind { since = .int(time) }
      tell(
        "query",
        [
          "model": .string(store.models[model].name), "since": since, "token": token.map { .string($0) } ?? .null,
        ])
    case .upload(_, let number):
      guard let upload = store.send(number) else { return .outbox(.removed([number])) }
      tell("upload", upload)
    case .askConflict(let number, let image):
      conflicts[number] = image
      tell(
        "conflict",
        [
          "write": .int(number), "local": store.visible(number),
          "remote": store.json(image.record, of: number),
        ])
    case .resolve(let number, let resolution, let image, let newNumber):
      conflicts[number] = nil
      let (isRetried, refused) = store.resolve(number, resolution, image, newNumber)
      for other in refused { end(other, "rejected") }
      if !isRetried, !refused.contains(number) { end(number, "superseded") }
      return .settled(number: number, isRetried ? .retried(as: newNumber) : .unneeded)
    case .reject(let number, let reason):
      end(number, "rejected")
      let others = store.reject(number, reason)
      for other in others { end(other, "rejected") }
      return others.isEmpty ? nil : .outbox(.removed(others))
    // Not of a write that was refused with one of the same step.
    case .progress(let number, let progress): if !ended.contains(number) { tell(number, "\(progress)") }
    case .abandon(let numbers): for number in numbers { tell(number, "restored") }
    case .refreshCredentials(let generation): return .credentials(generation: generation, isRefreshed: true)
    case .wake(let time):
      wakesAt = time
      tell("wake", ["seconds": .double(Double((time - now).wholeNanoseconds) / 1e9)])
    case .hub(.terminated): tell("terminated", [:])
    case .disconnect, .hub: break
    case .applyPage, .beginFullSync, .finishModel, .apply, .acknowledge, .clearStore: store.perform(action)
    }
    return nil
  }

  private mutating func advance(_ time: Duration) {
    let end = now + time
    while let due = wakesAt, due <= end {
      now = max(now, due)
      wakesAt = nil
      handle(.timer)
    }
    now = end
  }

  /// The server has taken a write as it was sent.
  private mutating func acknowledge(_ reader: StoreStepReader) throws(StoreDriverError) {
    let number = try reader.number("write")
    let position = reader.step["position"]?.int
    let image = store.accepted(number, version: reader.step["version"]?.int, position: position)
    handle(
      .uploaded(
        generation: engine.generation, number: number, image, position: position ?? image?.position ?? 0))
  }

  private mutating func resolve(_ reader: StoreStepReader) throws(StoreDriverError) {
    let number = try reader.number("write")
    guard conflicts[number] != nil, let model = store.model(of: number) else {
      throw StoreDriverError("no conflict of write \(number) waits for an answer")
    }
    handle(.resolved(number: number, try reader.resolution(model), newNumber: store.takeNumber()))
  }

  // MARK: Events

  mutating func tell(_ type: String, _ members: JSONObject) {
    var object: JSONObject = ["type": .string(type)]
    for (name, value) in members { object[name] = value }
    events.append(.object(object))
  }

  mutating func end(_ number: Int64, _ fate: String) {
    ended.insert(number)
    tell(number, fate)
  }

  private mutating func tell(_ number: Int64, _ fate: String) {
    tell("write", ["write": .int(number), "fate": .string(fate)])
  }

  /// Whether what the store has of a model may not be what the server has.
  func isFromCache(_ model: Int) -> Bool { engine.phase != .live || !isSynced(model) }

  /// Whether a model's sync has finished since the start.
  func isSynced(_ model: Int) -> Bool { engine.isSynced(model: model) }
}

/// Why a step could not be played.
public struct StoreDriverError: Error, Hashable, Sendable, CustomStringConvertible {
  /// What is wrong with the step.
  public let description: String

  init(_ description: String) {
    self.description = description
  }
}
