package import MartletJSON
import MartletJSONTree

/// The outer form of every message: `{"t": "d" | "c", "d": …}`.
enum TreeEnvelope {
  case data(JSONObject)
  case control(type: String, JSONValue)

  static func read(_ bytes: [UInt8], limits: TreeWireLimits) throws(TreeWireError) -> TreeEnvelope {
    var json = JSONLimits()
    (json.bytes, json.depth, json.duplicateKeys) = (limits.messageBytes, limits.messageDepth, .keepLast)
    let value: JSONValue
    do { value = try JSONValue(parsing: bytes, limits: json) } catch {
      throw TreeWireError(error.code == .loneSurrogate ? .loneSurrogate : .malformedJSON, error.description)
    }
    switch (value["t"]?.string, value["d"]) {
    case ("d", .object(let data)?): return .data(data)
    case ("c", .object(let control)?):
      guard let type = control["t"]?.string else { throw TreeWireError(.malformedMessage, "a control without a type") }
      return .control(type: type, control["d"] ?? .null)
    default: throw TreeWireError(.malformedMessage, "neither data nor control")
    }
  }

  static func control(_ type: String, _ data: JSONValue) -> [UInt8] {
    JSONValue.object(["t": "c", "d": ["t": .string(type), "d": data]]).serialized()
  }
}

/// The answer to a request.
package struct TreeAnswer: Hashable, Sendable {
  /// `ok`, or why not: `permission_denied`, `datastale`, `invalid_token` and so on.
  package var status: String
  package var data: JSONValue
  /// The revision at which a listener's value was complete, or the one that a write became. Only for clients that asked
  /// for the additions.
  package var revision: String?

  package init(status: String, data: JSONValue = .null, revision: String? = nil) {
    self.status = status
    self.data = data
    self.revision = revision
  }

  package static let ok = TreeAnswer(status: "ok")
  package var isOK: Bool { status == "ok" }

  func message(_ number: Int64) -> [UInt8] {
    var body: JSONObject = ["s": .string(status), "d": isOK && data.isNull ? [:] : data]
    if let revision { body["v"] = .string(revision) }
    return JSONValue.object(["t": "d", "d": ["r": .int(number), "b": .object(body)]]).serialized()
  }
}
