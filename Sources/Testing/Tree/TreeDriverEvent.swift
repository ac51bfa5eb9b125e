public import MartletJSON
internal import MartletJSONTree

/// One event of a `TreeDriver`.
public struct TreeDriverEvent: Hashable, Sendable {
  /// `child_removed`, `child_added`, `child_moved`, `child_changed`, `value`, `cancel`, and, where they are asked for,
  /// `child_acknowledged` and `value_acknowledged`.
  public var type: String
  /// The node listened to, relative to the driver's `basePath`, without a leading slash.
  public var path: String
  /// The child's key; nil for events of the node itself.
  public var name: String?
  /// The key of the child before; nil for the first child, for removals and for events of the node itself.
  public var previousName: String?
  /// The value, with `.priority` and `.value` where there are priorities. Of a removed child the old value.
  public var data: JSONValue
  /// Whether no pending write touches the child, or the node.
  public var isAcknowledged: Bool
  /// The `callbackId` of the listen.
  public var callbackID: String?

  init(_ event: TreeEvent, under base: TreePath, callbackID: String?) {
    type =
      switch event.kind {
      case .childRemoved: "child_removed"
      case .childAdded: "child_added"
      case .childMoved: "child_moved"
      case .childChanged: "child_changed"
      case .childAcknowledged: "child_acknowledged"
      case .value: "value"
      case .valueAcknowledged: "value_acknowledged"
      case .writeRejected: "write_rejected"
      case .cancelled: "cancel"
      }
    path = (event.path.relative(to: base) ?? event.path).keys.map(\.text).joined(separator: "/")
    name = event.key?.text
    previousName = event.previousKey?.text
    data = event.node.exportedJSON()
    isAcknowledged = event.isAcknowledged
    self.callbackID = callbackID
  }

  /// The event as published suites write it: `path`, `type`, `name`, `prevName` and `data`.
  public var json: JSONValue {
    var object: JSONObject = ["path": .string(path), "type": .string(type)]
    if let name {
      object["name"] = .string(name)
      if type != "child_removed" { object["prevName"] = previousName.map { .string($0) } ?? .null }
    }
    object["data"] = data
    return .object(object)
  }

  /// Whether this is the event that `expected` describes. Values are compared as the tree compares them.
  func matches(_ expected: JSONValue) -> Bool {
    guard expected["type"]?.string == type, Self.trimmed(expected["path"]?.string ?? "") == path else { return false }
    if type != "value" {
      guard expected["name"]?.string == name else { return false }
      if type != "child_removed", expected["prevName"]?.string != previousName { return false }
    }
    let reader = TreeReader()
    guard let one = try? reader.read(data), let two = try? reader.read(expected["data"] ?? .null) else { return false }
    return one == two
  }

  static func trimmed(_ path: String) -> String {
    path.split(separator: "/").joined(separator: "/")
  }
}

extension TreeDriver {
  /// Plays a whole case of a published suite, `{"name": …, "steps": […]}`, whose steps hold their expected `events`.
  ///
  /// Events of `listen` and `unlisten` are compared in their order. The others are compared in groups of one path, in
  /// the order of the groups; inside a group the order is free, as long as the kinds of each listener's events are in
  /// order.
  ///
  /// - Parameter basePath: the node under which the paths of the case stand.
  /// - Returns: what differs, one line each; nothing when the case holds.
  public static func differences(in testCase: JSONValue, under basePath: String = "") -> [String] {
    var driver = TreeDriver()
    driver.basePath = basePath
    var lines: [String] = []
    for (number, step) in (testCase["steps"]?.array ?? []).enumerated() {
      do {
        let events = try driver.run(step)
        let expected = step["events"]?.array ?? []
        let isOrdered = ["listen", "unlisten"].contains(step["type"]?.string)
        guard !(isOrdered ? isEqual(events, expected) : isEqualByPath(events, expected)) else { continue }
        let found = events.map(\.json.description).joined(separator: ", ")
        lines.append(
          "step \(number) \(step["type"]?.string ?? ""): expected \(JSONValue.array(expected)), got [\(found)]")
      } catch {
        lines.append("step \(number): \(error)")
      }
    }
    return lines
  }

  private static func isEqual(_ events: [TreeDriverEvent], _ expected: [JSONValue]) -> Bool {
    events.count == expected.count && zip(events, expected).allSatisfy { $0.matches($1) }
  }

  private static func isEqualByPath(_ events: [TreeDriverEvent], _ expected: [JSONValue]) -> Bool {
    guard events.count == expected.count else { return false }
    var (rest, wanted) = (events[...], expected[...])
    while let first = wanted.first {
      let path = first["path"]?.string ?? ""
      let group = wanted.prefix { $0["path"]?.string ?? "" == path }
      var found = Array(rest.prefix(group.count))
      for event in group {
        guard let index = found.firstIndex(where: { $0.matches(event) }) else { return false }
        found.remove(at: index)
      }
      rest = rest.dropFirst(group.count)
      wanted = wanted.dropFirst(group.count)
    }
    return true
  }
}
