public import MartletJSON
internal import MartletJSONTree

/// Plays the client's side of the synced tree step by step: listens, values from the server, writes and their answers
/// go in as JSON, events come out.
///
/// The steps have the shape of the event-sequence suites that are published for such engines, so that these run as they
/// are:
///
/// ```swift
/// var driver = TreeDriver()
/// try driver.run(["type": "listen", "path": "a"])
/// let events = try driver.run(["type": "serverUpdate", "path": "a", "data": ["x": 1]])
/// // child_added x, value
/// ```
///
/// | type | members |
/// | --- | --- |
/// | `listen` | `path`, `params` (see below), `callbackId` |
/// | `unlisten` | `path`, `callbackId`, `params` to end one window only |
/// | `serverUpdate` | `path`, `data`, `tag` for one window |
/// | `serverMerge` | `path`, `data` by relative paths, `tag` |
/// | `listenComplete` | `path`, `tag`: the server has sent everything |
/// | `serverCancel` | `path`, `tag`, `reason`: the server ended a listener |
/// | `set` | `path`, `data`, `visible` |
/// | `update` | `path`, `data` by relative paths |
/// | `ackUserWrite` | `writeId` (from 0, in the order of the writes), `revert`, `reason` |
/// | `suppressWarning` | nothing |
///
/// `params` are `tag` with `orderBy` (a child path), `orderByKey`, `orderByValue`, `orderByPriority`, `startAt`,
/// `startAfter`, `endAt`, `endBefore`, `equalTo` (each `{"index": value, "name": key}`), `limitToFirst` and
/// `limitToLast`; a bound may also be the value alone. Without an order children are ordered by priority, as in the
/// Realtime Database.
public struct TreeDriver: Sendable {
  /// Whether `child_acknowledged` and `value_acknowledged` are among the events. Published suites do not know them.
  public var reportsAcknowledgements = false
  /// The node under which all paths of the steps stand.
  public var basePath = ""
  /// What the engine listens to at the server now, as `PATH` or `PATH TAG`, sorted.
  public var serverListens: [String] { active.sorted() }

  private var engine = TreeEngine()
  private var active: Set<String> = []
  private var listeners: [String: Int64] = [:]
  private var names: [Int64: String] = [:]
  private var nextListener: Int64 = 0
  private var nextWrite: Int64 = 0
  /// The engine's tags by those of the steps.
  private var tags: [Int64: Int] = [:]
  /// Tags of listens without bounds: what comes for them comes for the whole node.
  private var wholeTags: Set<Int64> = []

  /// An engine without listeners.
  public init() {}

  /// Plays one step and returns its events, in the order in which listeners would get them.
  ///
  /// - Throws: `TreeDriverError` when the step cannot be read; an event that is not expected is not an error.
  @discardableResult
  public mutating func run(_ step: JSONValue) throws(TreeDriverError) -> [TreeDriverEvent] {
    let reader = TreeStepReader(step: step, basePath: basePath)
    let outcome: TreeEngine.Outcome
    switch try reader.type() {
    case "listen": outcome = try listen(reader)
    case "unlisten":
      guard let id = reader.callbackID.flatMap({ listeners[$0] }) else {
        throw TreeDriverError("unlisten names no callbackId of an earlier listen")
      }
      outcome = engine.unlisten(ListenerID(id), at: try reader.path(), try reader.window())
    case "serverUpdate":
      let (path, node) = (try reader.path(), try reader.node())
      outcome =
        try tag(reader).map { engine.serverOverwrite(path, with: node, tag: $0) }
        ?? engine.serverOverwrite(path, with: node)
    case "serverMerge":
      let (path, parts) = (try reader.path(), try reader.parts())
      outcome = try tag(reader).map { engine.serverMerge(path, parts, tag: $0) } ?? engine.serverMerge(path, parts)
    case "listenComplete": outcome = engine.listenCompleted(try reader.path(), tag: try tag(reader))
    case "serverCancel":
      let query = try tag(reader).flatMap { engine.query(tag: $0) }
      outcome = engine.cancel(at: try reader.path(), query?.window ?? .all, reason: reader.reason)
    case "set":
      let (path, node) = (try reader.path(), try reader.node())
      outcome = engine.overwrite(path, with: node, id: nextWrite, isVisible: reader.isVisible)
      nextWrite += 1
    case "update":
      outcome = engine.merge(try reader.path(), try reader.parts(), id: nextWrite)
      nextWrite += 1
    case "ackUserWrite":
      let id = try reader.writeID()
      let reason = step["reason"]?.string
      outcome = reader.isReverted ? engine.reject(id, reason: reason) : engine.acknowledge(id)
    case "suppressWarning": outcome = .init()
    case let type: throw TreeDriverError("the step type \(type) is not known")
    }
    try follow(outcome.requests)
    return events(outcome)
  }

  private mutating func listen(_ reader: TreeStepReader) throws(TreeDriverError) -> TreeEngine.Outcome {
    let (path, window) = (try reader.path(), try reader.window() ?? Window(order: .priority))
    let id = reader.callbackID.flatMap { listeners[$0] } ?? nextListener
    nextListener = max(nextListener, id + 1)
    if let name = reader.callbackID { (listeners[name], names[id]) = (id, name) }
    let outcome = engine.listen(at: path, window, as: ListenerID(id))
    if let tag = reader.params?["tag"]?.int {
      tags[tag] = engine.tag(of: path, window)
      if tags[tag] == nil { wholeTags.insert(tag) } else { wholeTags.remove(tag) }
    }
    return outcome
  }

  private func tag(_ reader: TreeStepReader) throws(TreeDriverError) -> Int? {
    guard let number = reader.step["tag"], number.int.map(wholeTags.contains) != true else { return nil }
    guard let tag = number.int.flatMap({ tags[$0] }) else {
      throw TreeDriverError("the tag \(number) is not that of a listen")
    }
    return tag
  }

  /// Keeps the list of what is listened to; asking twice or ending what is not there is a fault of the engine.
  private mutating func follow(_ requests: [TreeEngine.Request]) throws(TreeDriverError) {
    for request in requests {
      switch request {
      case .listen(let path, let window, let tag):
        guard active.insert(Self.name(path, window, tag)).inserted else {
          throw TreeDriverError("the engine listens to \(path) a second time")
        }
      case .unlisten(let path, let window, let tag):
        guard active.remove(Self.name(path, window, tag)) != nil else {
          throw TreeDriverError("the engine ends a listen to \(path) that it has not begun")
        }
      case .watch, .unwatch: throw TreeDriverError("the engine watches a node, which no step asks for")
      }
    }
  }

  private static func name(_ path: TreePath, _ window: Window, _ tag: Int?) -> String {
    path.description + (tag.map { " \($0)" } ?? "")
  }

  private func events(_ outcome: TreeEngine.Outcome) -> [TreeDriverEvent] {
    let base = (try? TreePath(wire: basePath)) ?? .root
    return outcome.events.compactMap { event in
      let isAcknowledgement = event.kind == .childAcknowledged || event.kind == .valueAcknowledged
      if isAcknowledgement, !reportsAcknowledgements { return nil }
      return TreeDriverEvent(event, under: base, callbackID: names[event.listener.number])
    }
  }
}

/// Why a step could not be played.
public struct TreeDriverError: Error, Hashable, Sendable, CustomStringConvertible {
  /// What is wrong with the step.
  public let description: String

  init(_ description: String) {
    self.description = description
  }
}
