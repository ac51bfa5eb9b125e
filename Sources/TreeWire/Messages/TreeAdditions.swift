import MartletJSON
package import MartletJSONTree

/// What a request says beyond version 5, in the member `x` of its body. Sent only to a server whose greeting offers it,
/// and read only from a client that asked for it.
package struct TreeAdditions: Hashable, Sendable {
  /// The number of a write, under which a resend is applied once.
  package struct Number: Hashable, Sendable {
    package var number: Int64
    /// The client needs the outcomes of its writes up to this number no more.
    package var acknowledged: Int64
    /// The client has sent this write before, and an earlier one of its writes has ended.
    package var isResend: Bool

    package init(number: Int64, acknowledged: Int64, isResend: Bool) {
      self.number = number
      self.acknowledged = acknowledged
      self.isResend = isResend
    }
  }

  package var write: Number?
  /// The revision up to which the client has a listener's value.
  package var since: String?
  /// The children of a window that the client has.
  package var keys: [TreeKey] = []
  /// For how many milliseconds a deferred write waits for its client to come back before it is made.
  package var grace: Int64?

  package init() {}

  package init(write: Number) { self.write = write }

  /// Reads the member `x`; a member of another type is ignored, as version 5 ignores what it does not know.
  init(_ json: JSONValue?, windowKeys: Int, limits: TreeLimits) {
    guard let object = json?.object else { return }
    if let number = object["n"]?.int, number > 0 {
      let acknowledged = max(0, min(object["k"]?.int ?? 0, number - 1))
      write = Number(number: number, acknowledged: acknowledged, isResend: object["r"]?.bool ?? false)
    }
    since = object["v"]?.string
    keys = (object["ks"]?.array ?? []).prefix(windowKeys)
      .compactMap { $0.string.flatMap { try? TreeKey($0, under: .root, limits: limits) } }
    grace = object["g"]?.int
  }

  var json: JSONValue? {
    var object = JSONObject()
    if let write {
      object["n"] = .int(write.number)
      object["k"] = .int(write.acknowledged)
      if write.isResend { object["r"] = true }
    }
    if let since { object["v"] = .string(since) }
    if !keys.isEmpty { object["ks"] = .array(keys.map { .string($0.text) }) }
    if let grace { object["g"] = .int(grace) }
    return object.isEmpty ? nil : .object(object)
  }
}
