internal import MartletJSON
internal import MartletJSONTree
package import MartletVocabulary

/// Writes the bodies of a channel's events.
package struct EventBody: Sendable {
  private let channel: String
  private let context: JSONValue
  /// Bytes beyond which an event leaves out its value and says so.
  private let limit: Int

  package init(_ definition: ChannelDefinition, limit: Int) {
    channel = definition.id
    context = definition.context
    self.limit = limit
  }

  /// The id of an event. The term keeps those apart that two histories have at one offset.
  private func id(_ cursor: Cursor, _ number: Int) -> String { "\(channel)-\(cursor)-\(number)" }

  /// An event of a node.
  package func event(_ found: NodeFollower.Found, at cursor: Cursor, time: Int64) -> ChannelEvent {
    var members: JSONObject = ["event": .string(found.kind.name), "path": .string(found.path.description)]
    if found.kind != .valueChange, let key = found.path.key { members["key"] = .string(key.text) }
    let value = found.kind == .childRemoval ? found.value.map { _ in JSONValue.null } : found.value
    return event(members, value: value.map { ("value", $0) }, at: cursor, number: found.number, time: time)
  }

  /// An event of a GraphQL subscription, with its result as it was encoded.
  package func event(result: [UInt8], at cursor: Cursor, time: Int64) -> ChannelEvent {
    let payload = (try? JSONValue(parsing: result)) ?? .null
    return event(["event": "next"], value: ("payload", payload), at: cursor, number: 0, time: time)
  }

  /// Says that events are missing: those after `from`, up to `cursor`.
  package func gap(_ reason: String, from: Cursor?, at cursor: Cursor, time: Int64) -> ChannelEvent {
    var members: JSONObject = ["event": "gap", "reason": .string(reason)]
    members["from"] = from.map { .string($0.description) } ?? .null
    return event(members, value: nil, at: cursor, number: 0, time: time)
  }

  private func event(
    _ members: JSONObject, value: (name: String, json: JSONValue)?, at cursor: Cursor, number: Int, time: Int64
  ) -> ChannelEvent {
    let id = id(cursor, number)
    var json: JSONObject = [
      "id": .string(id), "subscription": .string(channel), "cursor": .string(cursor.description), "time": .int(time),
    ]
    for (name, member) in members { json[name] = member }
    if !context.isNull { json["context"] = context }
    guard let value else { return ChannelEvent(id: id, number: number, body: JSONValue.object(json).serialized()) }
    var whole = json
    whole[value.name] = value.json
    var body = JSONValue.object(whole).serialized()
    if body.count > limit {
      json["truncated"] = true
      body = JSONValue.object(json).serialized()
    }
    return ChannelEvent(id: id, number: number, body: body)
  }
}
