package import MartletJSON
package import MartletJSONTree

/// A value or a notice that the server sends without being asked again.
package enum TreePush: Hashable, Sendable {
  /// A range of a node's leaves: after the path `start`, up to and including `end` (nil: without end).
  package struct Range: Hashable, Sendable {
    package var start: TreePath?
    package var end: TreePath?
    /// What stands in the range now.
    package var replacement: JSONValue

    package init(start: TreePath?, end: TreePath?, replacement: JSONValue) {
      self.start = start
      self.end = end
      self.replacement = replacement
    }
  }

  /// What a listener's client will not be shown: the values between two revisions.
  package struct Gap: Hashable, Sendable {
    /// Why, in the protocol's word.
    package var reason: String
    /// The last revision that the client has; nil when it has none.
    package var from: String?
    /// The revision of the value that follows.
    package var to: String

    package init(reason: String, from: String?, to: String) {
      (self.reason, self.from, self.to) = (reason, from, to)
    }
  }

  /// What happened to a node whose values a client did not ask for.
  package enum Notice: Hashable, Sendable {
    /// The node has its first value, or another one.
    ///
    /// - Parameters:
    ///   - places: the paths below the node that were written; none when all of it may have changed.
    ///   - revision: of the change, as in the answer to the write that made it.
    case changed(places: [TreePath], revision: String?)
    /// Changes are missing, and one of the whole node follows.
    case gap(Gap)
    /// Nothing follows. The reason is a status and a text.
    case ended(reason: String)
  }

  /// Part of a whole node's value.
  package struct Part: Hashable, Sendable {
    /// Counts the parts; 0 is the first.
    package var number: Int64
    /// Whether the value is whole now.
    package var isLast: Bool

    package init(number: Int64, isLast: Bool) { (self.number, self.isLast) = (number, isLast) }
  }

  case overwrite(TreePath, JSONValue, tag: Int64?)
  case merge(TreePath, JSONObject, tag: Int64?)
  case rangeMerge(TreePath, [Range], tag: Int64?)
  /// Leaves of a large node, which its client joins to the node's value. Sent to clients that asked for what goes
  /// beyond version 5.
  case part(TreePath, JSONValue, Part)
  /// The server ended a listener. The reason, a status and a text, is sent to clients that asked for what goes beyond
  /// version 5.
  case cancelled(TreePath, Window, reason: String? = nil)
  /// Values are missing; the whole value follows. Sent to clients that asked for what goes beyond version 5.
  case gap(TreePath, Window, Gap)
  /// What happened to a node that is watched. Sent to clients that asked for it.
  case watched(TreePath, Notice)
  /// The credential is no longer valid.
  case revoked(status: String, reason: String)
  /// A text for the application's developer, about rules.
  case debug(String)

  var message: [UInt8] {
    let (action, body) = parts
    return JSONValue.object(["t": "d", "d": ["a": .string(action), "b": .object(body)]]).serialized()
  }

  private var parts: (String, JSONObject) {
    switch self {
    case .overwrite(let path, let json, let tag): return ("d", Self.body(path, json, tag))
    case .merge(let path, let object, let tag): return ("m", Self.body(path, .object(object), tag))
    case .rangeMerge(let path, let ranges, let tag):
      let list = ranges.map { range -> JSONValue in
        var entry = JSONObject()
        if let start = range.start { entry["s"] = .string(Self.text(start)) }
        if let end = range.end { entry["e"] = .string(Self.text(end)) }
        entry["m"] = range.replacement
        return .object(entry)
      }
      return ("rm", Self.body(path, .array(list), tag))
    case .part(let path, let json, let part):
      var body: JSONObject = ["p": .string(Self.text(path)), "d": json, "n": .int(part.number)]
      if part.isLast { body["e"] = true }
      return ("part", body)
    case .cancelled(let path, let window, let reason):
      var body: JSONObject = ["p": .string(Self.text(path))]
      if let query = WireWindow.json(of: window) { body["q"] = query }
      if let reason { body["x"] = .string(reason) }
      return ("c", body)
    case .gap(let path, let window, let gap):
      var body: JSONObject = ["p": .string(Self.text(path))]
      Self.add(gap, to: &body)
      if let query = WireWindow.json(of: window) { body["q"] = query }
      return ("gap", body)
    case .watched(let path, .changed(let places, let revision)):
      var body: JSONObject = ["p": .string(Self.text(path))]
      if let revision { body["v"] = .string(revision) }
      if !places.isEmpty { body["s"] = .array(places.map { .string(Self.text($0)) }) }
      return ("w", body)
    case .watched(let path, .gap(let gap)):
      var members = JSONObject()
      Self.add(gap, to: &members)
      return ("w", ["p": .string(Self.text(path)), "g": .object(members)])
    case .watched(let path, .ended(let reason)):
      return ("w", ["p": .string(Self.text(path)), "c": .string(reason)])
    case .revoked(let status, let reason): return ("ac", ["s": .string(status), "d": .string(reason)])
    case .debug(let text): return ("sd", ["msg": .string(text)])
    }
  }

  /// Paths in pushes have no slash before them.
  private static func text(_ path: TreePath) -> String { path.keys.map(\.text).joined(separator: "/") }

  private static func body(_ path: TreePath, _ json: JSONValue, _ tag: Int64?) -> JSONObject {
    var body: JSONObject = ["p": .string(text(path)), "d": json]
    if let tag { body["t"] = .int(tag) }
    return body
  }

  private static func add(_ gap: Gap, to body: inout JSONObject) {
    body["s"] = .string(gap.reason)
    body["to"] = .string(gap.to)
    if let from = gap.from { body["from"] = .string(from) }
  }

  /// Reads a push; nil for an action that is not known, which a newer server may send.
  init?(action: String, body: JSONObject, limits: TreeLimits) throws(TreeWireError) {
    func path(_ json: JSONValue?) throws(TreeWireError) -> TreePath {
      guard let text = json?.string else { throw TreeWireError(.malformedMessage, "\(action): p is not a text") }
      do { return try TreePath(wire: text, limits: limits) } catch {
        throw TreeWireError(.invalidTree, error.description)
      }
    }
    switch action {
    case "d": self = .overwrite(try path(body["p"]), body["d"] ?? .null, tag: body["t"]?.int)
    case "m":
      guard let object = body["d"]?.object else { throw TreeWireError(.malformedMessage, "m: d is not an object") }
      self = .merge(try path(body["p"]), object, tag: body["t"]?.int)
    case "rm":
      var ranges: [Range] = []
      for entry in body["d"]?.array ?? [] {
        let start = entry["s"] == nil ? nil : try path(entry["s"])
        let end = entry["e"] == nil ? nil : try path(entry["e"])
        ranges.append(Range(start: start, end: end, replacement: entry["m"] ?? .null))
      }
      self = .rangeMerge(try path(body["p"]), ranges, tag: body["t"]?.int)
    case "part":
      let part = Part(number: body["n"]?.int ?? 0, isLast: body["e"]?.bool ?? false)
      self = .part(try path(body["p"]), body["d"] ?? .null, part)
    case "c":
      let path = try path(body["p"])
      self = .cancelled(
        path, try WireWindow.read(body["q"], at: path, limits: limits), reason: body["x"]?.string)
    case "gap":
      let path = try path(body["p"])
      self = .gap(path, try WireWindow.read(body["q"], at: path, limits: limits), Gap(body))
    case "w":
      let watched = try path(body["p"])
      if let reason = body["c"]?.string {
        self = .watched(watched, .ended(reason: reason))
      } else if let gap = body["g"]?.object {
        self = .watched(watched, .gap(Gap(gap)))
      } else {
        var places: [TreePath] = []
        for place in body["s"]?.array ?? [] { places.append(try path(place)) }
        self = .watched(watched, .changed(places: places, revision: body["v"]?.string))
      }
    case "ac": self = .revoked(status: body["s"]?.string ?? "", reason: body["d"]?.string ?? "")
    case "sd": self = .debug(body["msg"]?.string ?? "")
    default: return nil
    }
  }
}

extension TreePush.Gap {
  /// Reads the members of a gap.
  fileprivate init(_ body: JSONObject) {
    self.init(reason: body["s"]?.string ?? "", from: body["from"]?.string, to: body["to"]?.string ?? "")
  }
}
