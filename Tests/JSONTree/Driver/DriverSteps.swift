import MartletJSON

/// One step of a sequence for the driver, with the events that it is to raise.
struct DriverStep: Sendable {
  let json: JSONValue

  private static func step(_ type: String, _ members: JSONObject, _ events: [DriverEvent]) -> DriverStep {
    var step = members
    (step["type"], step["events"]) = (.string(type), .array(events.map(\.json)))
    return DriverStep(json: .object(step))
  }

  static func listen(_ path: String, _ params: JSONValue? = nil, _ events: DriverEvent...) -> DriverStep {
    var members: JSONObject = [
      "path": .string(path), "callbackId": .string(path + (params == nil ? "" : " \(params?["tag"] ?? 0)")),
    ]
    if let params { members["params"] = params }
    return step("listen", members, events)
  }

  static func unlisten(_ path: String) -> DriverStep {
    step("unlisten", ["path": .string(path), "callbackId": .string(path)], [])
  }

  static func server(_ path: String, _ data: JSONValue, tag: Int64? = nil, _ events: DriverEvent...) -> DriverStep {
    var members: JSONObject = ["path": .string(path), "data": data]
    if let tag { members["tag"] = .int(tag) }
    return step("serverUpdate", members, events)
  }

  static func serverMerge(
    _ path: String, _ data: JSONValue, tag: Int64? = nil, _ events: DriverEvent...
  ) -> DriverStep {
    var members: JSONObject = ["path": .string(path), "data": data]
    if let tag { members["tag"] = .int(tag) }
    return step("serverMerge", members, events)
  }

  static func complete(_ path: String, tag: Int64? = nil, _ events: DriverEvent...) -> DriverStep {
    var members: JSONObject = ["path": .string(path)]
    if let tag { members["tag"] = .int(tag) }
    return step("listenComplete", members, events)
  }

  static func set(_ path: String, _ data: JSONValue, _ events: DriverEvent...) -> DriverStep {
    step("set", ["path": .string(path), "data": data], events)
  }

  static func update(_ path: String, _ data: JSONValue, _ events: DriverEvent...) -> DriverStep {
    step("update", ["path": .string(path), "data": data], events)
  }

  static func ack(_ id: Int64, _ events: DriverEvent...) -> DriverStep {
    step("ackUserWrite", ["writeId": .int(id)], events)
  }

  static func revert(_ id: Int64, _ events: DriverEvent...) -> DriverStep {
    step("ackUserWrite", ["writeId": .int(id), "revert": true], events)
  }
}

/// An event that a step is to raise.
struct DriverEvent: Sendable {
  let json: JSONValue

  private static func child(
    _ type: String, _ path: String, _ name: String, _ data: JSONValue, _ previous: String?
  ) -> DriverEvent {
    let json: JSONValue = [
      "type": .string(type), "path": .string(path), "name": .string(name), "data": data,
      "prevName": previous.map { .string($0) } ?? .null,
    ]
    return DriverEvent(json: json)
  }

  static func added(_ path: String, _ name: String, _ data: JSONValue, _ previous: String? = nil) -> DriverEvent {
    child("child_added", path, name, data, previous)
  }

  static func changed(
    _ path: String, _ name: String, _ data: JSONValue, _ previous: String? = nil
  ) -> DriverEvent { child("child_changed", path, name, data, previous) }

  static func moved(_ path: String, _ name: String, _ data: JSONValue, _ previous: String? = nil) -> DriverEvent {
    child("child_moved", path, name, data, previous)
  }

  static func removed(_ path: String, _ name: String, _ data: JSONValue) -> DriverEvent {
    child("child_removed", path, name, data, nil)
  }

  static func value(_ path: String, _ data: JSONValue) -> DriverEvent {
    DriverEvent(json: ["type": "value", "path": .string(path), "data": data])
  }
}
