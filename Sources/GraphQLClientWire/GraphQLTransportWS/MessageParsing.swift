package import MartletJSON
package import MartletVocabulary

/// What parsing both directions shares.
package enum MessageParsing {
  /// The object a message is.
  package static func root(
    _ text: [UInt8], _ limits: JSONLimits, _ fault: (String) -> GraphQLTransportWS.Close
  ) throws(GraphQLTransportWS.Close) -> JSONTape.Element {
    let tape: JSONTape
    do throws(JSONError) {
      tape = try JSONTape(text, limits: limits)
    } catch {
      throw fault("Invalid message: \(error)")
    }
    guard tape.root.kind == .object else { throw fault("A message is a JSON object") }
    return tape.root
  }

  /// A message's id; a number of a careless server is read as its digits.
  package static func id(_ root: JSONTape.Element) -> OperationID? {
    guard let id = root["id"] else { return nil }
    return OperationID(id.string ?? id.int.map { String($0) } ?? "")
  }

  /// The id of a client that may write numbers: answered as it was written.
  package static func spelledID(_ root: JSONTape.Element) -> OperationID? {
    if let text = root["id"]?.string { return OperationID(text) }
    return root["id"]?.int.map { OperationID(spelled: $0) }
  }
}

extension JSONLimits {
  /// The bounds of one message.
  package static func message(bytes: Int, depth: Int) -> JSONLimits {
    var limits = JSONLimits()
    limits.bytes = bytes
    limits.depth = depth
    return limits
  }
}

/// What writing both directions shares.
package enum MessageWriting {
  package static func plain(_ type: String, payload: JSONObject?) -> [UInt8] {
    var writer = JSONWriter()
    writer.beginObject()
    writer.key("type")
    writer.string(type)
    if let payload {
      writer.key("payload")
      writer.value(.object(payload))
    }
    writer.endObject()
    return writer.bytes
  }

  /// A message about one operation; `members` adds what follows its type.
  package static func message(_ id: OperationID, _ type: String, _ members: (inout JSONWriter) -> Void) -> [UInt8] {
    var writer = JSONWriter()
    writer.beginObject()
    writer.key("id")
    id.write(to: &writer)
    writer.key("type")
    writer.string(type)
    members(&writer)
    writer.endObject()
    return writer.bytes
  }

  package static func complete(_ id: OperationID) -> [UInt8] { message(id, "complete") { _ in } }

  package static func stop(_ id: OperationID) -> [UInt8] { message(id, "stop") { _ in } }

  package static func error(_ id: OperationID, payload: JSONValue) -> [UInt8] {
    message(id, "error") { writer in
      writer.key("payload")
      writer.value(payload)
    }
  }

  package static let keepAlive = Array(#"{"type":"ka"}"#.utf8)

  /// `{"id":"…","type":"next","payload":`: an event's bytes in front of its payload.
  package static func eventPrefix(_ id: OperationID, _ type: String) -> [UInt8] {
    var writer = JSONWriter()
    id.write(to: &writer)
    return Array("{\"id\":".utf8) + writer.bytes + Array(",\"type\":\"\(type)\",\"payload\":".utf8)
  }
}

extension GraphQLTransportWS {
  /// The bytes round an event's payload. A message is `nextPrefix(id)`, the payload, and a suffix, which all members
  /// of a group share with the payload.
  package enum NextMessage {
    /// `{"id":"…","type":"next","payload":`
    package static func prefix(_ id: OperationID) -> [UInt8] { MessageWriting.eventPrefix(id, "next") }

    /// `}`: towards peers that did not ask for cursors.
    package static let plainSuffix: [UInt8] = [UInt8(ascii: "}")]

    /// `,"cursor":"…"}`, with `"partial":true` before the bracket while the event's transaction continues.
    package static func suffix(_ cursor: Cursor, endsTransaction: Bool) -> [UInt8] {
      Array(",\"cursor\":\"\(cursor)\"\(endsTransaction ? "" : ",\"partial\":true")}".utf8)
    }
  }
}

extension OperationID {
  fileprivate func write(to writer: inout JSONWriter) {
    if isNumber { writer.raw(Array(text.utf8)) } else { writer.string(text) }
  }
}
