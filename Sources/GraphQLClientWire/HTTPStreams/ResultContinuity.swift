import MartletJSON
package import MartletVocabulary

/// What a streamed response says beside its results to clients that asked for it: the member `martlet` of a result's
/// `extensions` (docs/PROTOCOL.md, "Cursors over HTTP"). Sockets have messages of their own for it.
package enum ResultContinuity: Equatable, Sendable {
  /// Where the result stands. `endsTransaction` is false while more of its transaction follows.
  case event(Cursor, endsTransaction: Bool)
  /// Everything up to this cursor has been sent; nil for a stream that is not fed by a log. `view` says what the
  /// client's rights let it see.
  case ready(Cursor?, view: String? = nil)
  case gap(SubscriptionGap)
  /// Everything up to here has been sent, though no event says so.
  case position(Cursor)

  // MARK: Writing

  /// A result with its place. One with extensions of its own keeps them.
  package static func marked(_ payload: [UInt8], _ cursor: Cursor, endsTransaction: Bool) -> [UInt8] {
    let mark = ResultContinuity.event(cursor, endsTransaction: endsTransaction).member
    if let tape = try? JSONTape(payload, limits: .held(payload)), tape.root["extensions"] == nil,
      payload.last == UInt8(ascii: "}")
    {
      let separator = tape.root.count == 0 ? "" : ","
      return payload.dropLast() + Array("\(separator)\"extensions\":{\"martlet\":".utf8)
        + JSONValue.object(mark).serialized() + Array("}}".utf8)
    }
    guard var result = (try? JSONValue(parsing: payload, limits: .held(payload)))?.object else { return payload }
    var extensions = result["extensions"]?.object ?? JSONObject()
    extensions["martlet"] = .object(mark)
    result["extensions"] = .object(extensions)
    return JSONValue.object(result).serialized()
  }

  /// A result that says this and nothing else.
  package var payload: [UInt8] {
    JSONValue.object(["extensions": ["martlet": .object(member)]]).serialized()
  }

  /// What a client may name as the last event it has seen, if this is such a place.
  package var place: Cursor? {
    switch self {
    case .event(let cursor, let endsTransaction): endsTransaction ? cursor : nil
    case .ready(let cursor, _): cursor
    case .gap(let gap): gap.to
    case .position(let cursor): cursor
    }
  }

  private var member: JSONObject {
    switch self {
    case .event(let cursor, let endsTransaction):
      var member: JSONObject = ["cursor": .string(cursor.description)]
      if !endsTransaction { member["partial"] = .bool(true) }
      return member
    case .ready(let cursor, let view):
      var ready = JSONObject()
      if let cursor { ready["cursor"] = .string(cursor.description) }
      if let view { ready["view"] = .string(view) }
      return ["ready": .object(ready)]
    case .gap(let gap):
      return [
        "gap": [
          "reason": .string(gap.reason), "from": gap.from.map { .string($0.description) } ?? .null,
          "to": .string(gap.to.description),
        ]
      ]
    case .position(let cursor): return ["position": ["cursor": .string(cursor.description)]]
    }
  }

  // MARK: Reading

  /// What a result says beside its data; nil when it says nothing, or nothing that can be understood.
  package init?(_ payload: [UInt8]) {
    guard let tape = try? JSONTape(payload, limits: .held(payload)), let member = tape.root["extensions"]?["martlet"]
    else { return nil }
    func cursor(_ element: JSONTape.Element?) -> Cursor? { element?.string.flatMap { Cursor($0) } }
    if let ready = member["ready"] {
      self = .ready(cursor(ready["cursor"]), view: ready["view"]?.string)
    } else if let gap = member["gap"], let to = cursor(gap["to"]) {
      self = .gap(SubscriptionGap(reason: gap["reason"]?.string ?? "unknown", from: cursor(gap["from"]), to: to))
    } else if let place = cursor(member["position"]?["cursor"]) {
      self = .position(place)
    } else if let place = cursor(member["cursor"]) {
      self = .event(place, endsTransaction: member["partial"]?.value != .bool(true))
    } else {
      return nil
    }
  }
}

extension RequestPayload {
  /// The request of a client that asks again for an event stream: the last identifier it has seen, which stands for a
  /// cursor, goes before the one in the request. A value that is not a cursor belongs to another server: there is a
  /// gap.
  package func resuming(lastEventID: String) -> RequestPayload {
    guard !lastEventID.isEmpty else { return self }
    let known = try? RequestContinuity(extensions: extensions)
    let cursor = Cursor(lastEventID)
    guard cursor != nil || known?.followsCursors == true else { return self }
    var request = self
    var continuity = known ?? RequestContinuity()
    continuity.resume = cursor ?? Cursor(term: 0, offset: 0)
    request.extensions = continuity.added(to: extensions)
    return request
  }
}
