package import MartletJSON
package import MartletJSONTree

/// What a channel delivers.
package enum ChannelSource: Sendable, Equatable {
  /// Changes of a node of the tree. `carriesData` is false for signals without values.
  case node(TreePath, ChannelEvents, carriesData: Bool)
  /// The events of a GraphQL subscription.
  case operation(query: String, name: String?, variables: JSONObject)

  package static func == (left: ChannelSource, right: ChannelSource) -> Bool { left.json == right.json }

  var json: JSONObject {
    switch self {
    case .node(let path, let events, let carriesData):
      var json: JSONObject = ["node": .string(path.description), "events": events.json]
      if !carriesData { json["withoutData"] = true }
      return json
    case .operation(let query, let name, let variables):
      var json: JSONObject = ["query": .string(query)]
      if let name { json["operationName"] = .string(name) }
      if !variables.isEmpty { json["variables"] = .object(variables) }
      return json
    }
  }
}

/// Where a channel delivers to: a webhook of the configuration, or a registered device.
package enum ChannelTarget: Sendable, Hashable {
  case webhook(String)
  case device(String)

  /// The name of the webhook or device.
  package var name: String {
    switch self {
    case .webhook(let name), .device(let name): name
    }
  }

  /// What it is, in a word.
  package var kind: String { member.key }

  var member: (key: String, value: JSONValue) {
    switch self {
    case .webhook(let name): ("webhook", .string(name))
    case .device(let name): ("device", .string(name))
    }
  }
}

/// One subscription of a channel: what is delivered, to where, and until when.
package struct ChannelDefinition: Sendable, Equatable {
  /// Names the channel in requests, records and the ids of its events.
  package var id: String
  package var target: ChannelTarget
  package var source: ChannelSource
  /// Comes back in every event; free for its owner's use.
  package var context: JSONValue
  /// How a device's push service treats the messages; without effect for webhooks.
  package var push = PushOptions()
  /// Milliseconds since 1970 from which on nothing is delivered; nil for a channel without an end.
  package var expires: Int64?
  /// The caller for whom it was made, as its maker wrote it; null for an administrator.
  package var owner: JSONValue
  /// The administrator that made it, where `owner` is null; null for what the configuration has.
  package var maker = JSONValue.null

  package init(
    id: String, target: ChannelTarget, source: ChannelSource, context: JSONValue = .null, expires: Int64? = nil,
    owner: JSONValue = .null
  ) {
    self.id = id
    self.target = target
    self.source = source
    self.context = context
    self.expires = expires
    self.owner = owner
  }

  /// Names are sent in header fields and stand in paths of requests.
  package static func checkName(_ name: String, _ what: String) throws(ChannelError) {
    let isPlain = name.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
        true
      default: false
      }
    }
    guard isPlain, (1...64).contains(name.utf8.count) else {
      throw ChannelError(.definition, "\(what) needs 1 to 64 letters, digits, - and _")
    }
  }

  /// Stands in paths where ids do.
  package static let reservedID = "devices"

  // MARK: JSON

  private static let members = [
    "id", "webhook", "device", "node", "events", "withoutData", "query", "operationName", "variables", "context",
    "push", "duration", "expires", "owner", "maker",
  ]
  /// Members that are kept, and that requests and files do not give.
  package static let keptMembers = ["expires", "owner", "maker"]

  /// Reads a definition as a request or a file has it, or as `json` wrote it.
  ///
  /// - Parameters:
  ///   - freshID: The id of a definition without one.
  ///   - now: Milliseconds since 1970, from which `duration` (seconds) counts.
  package init(
    _ json: JSONValue, freshID: String, at now: Int64, limits: TreeLimits = TreeLimits()
  ) throws(ChannelError) {
    guard let object = json.object else { throw ChannelError(.definition, "a subscription is a JSON object") }
    if let other = object.keys.first(where: { key in !Self.members.contains { $0.hasSameBytes(as: key) } }) {
      throw ChannelError(.definition, "a subscription has no member \"\(other)\"")
    }
    if let id = object["id"], id.string == nil { throw ChannelError(.definition, "\"id\" is not a text") }
    id = object["id"]?.string ?? freshID
    try Self.checkName(id, "the id of a subscription")
    guard id != Self.reservedID else {
      throw ChannelError(.definition, "\"\(id)\" cannot be the id of a subscription")
    }
    switch (object["webhook"]?.string, object["device"]?.string) {
    case (let name?, nil): target = .webhook(name)
    case (nil, let name?): target = .device(name)
    case (nil, nil), (_?, _?):
      throw ChannelError(.target, "a subscription names either a \"webhook\" or a \"device\"")
    }
    source = try Self.source(object, limits)
    context = object["context"] ?? .null
    owner = object["owner"] ?? .null
    maker = object["maker"] ?? .null
    if let push = object["push"] {
      guard case .device = target else { throw ChannelError(.definition, "\"push\" is for devices, not for webhooks") }
      self.push = try PushOptions(push)
    }
    expires = object["expires"]?.int
    if let duration = object["duration"] {
      guard let seconds = duration.int, seconds > 0, seconds <= Self.longestSeconds else {
        throw ChannelError(.definition, "\"duration\" needs whole seconds from 1 to \(Self.longestSeconds)")
      }
      expires = now + seconds * 1_000
    }
  }

  /// A hundred years, so that sums stay within 64 bits.
  private static let longestSeconds: Int64 = 3_155_760_000

  private static func source(_ object: JSONObject, _ limits: TreeLimits) throws(ChannelError) -> ChannelSource {
    switch (object["node"]?.string, object["query"]?.string) {
    case (let node?, nil):
      let path: TreePath
      do { path = try TreePath(wire: node, limits: limits) } catch {
        throw ChannelError(.definition, "the node \"\(node)\" cannot be used: \(error)")
      }
      guard path.key?.isPriority != true else {
        throw ChannelError(.definition, "the node \"\(node)\" is a priority, which has no events of its own")
      }
      if let flag = object["withoutData"], flag.bool == nil {
        throw ChannelError(.definition, "\"withoutData\" is true or false")
      }
      let carriesData = object["withoutData"]?.bool != true
      return .node(path, try ChannelEvents(object["events"] ?? "valueChange"), carriesData: carriesData)
    case (nil, let query?):
      if let variables = object["variables"], variables.object == nil {
        throw ChannelError(.definition, "\"variables\" is not an object")
      }
      return .operation(
        query: query, name: object["operationName"]?.string, variables: object["variables"]?.object ?? JSONObject())
    case (nil, nil), (_?, _?):
      throw ChannelError(.definition, "a subscription has either a \"node\" or a \"query\"")
    }
  }

  /// The definition as `init` reads it.
  package var json: JSONValue {
    var json: JSONObject = ["id": .string(id)]
    json[target.member.key] = target.member.value
    for (name, value) in source.json { json[name] = value }
    if !context.isNull { json["context"] = context }
    if push != PushOptions() { json["push"] = push.json }
    if let expires { json["expires"] = .int(expires) }
    if !owner.isNull { json["owner"] = owner }
    if !maker.isNull { json["maker"] = maker }
    return .object(json)
  }

  package static func == (left: ChannelDefinition, right: ChannelDefinition) -> Bool { left.json == right.json }
}
