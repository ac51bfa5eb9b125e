import MartletJSON
import MartletVocabulary

extension GraphQLTransportWS.ServerMessage {
  static func acknowledgementText(_ payload: JSONObject?) -> [UInt8] {
    MessageWriting.plain("connection_ack", payload: payload)
  }

  static func pongText(_ payload: JSONObject?) -> [UInt8] {
    MessageWriting.plain("pong", payload: payload)
  }

  static func positionText(_ cursor: Cursor) -> [UInt8] {
    let member = JSONValue.object(JSONObject([("cursor", .string(cursor.description))]))
    return MessageWriting.plain("ping", payload: JSONObject([("martlet", member)]))
  }

  static func warningText(_ left: Duration) -> [UInt8] {
    let milliseconds = left.wholeNanoseconds / 1_000_000
    return MessageWriting.plain("ping", payload: ["martlet": ["credentialsEndInMs": .int(milliseconds)]])
  }

  static func readyText(_ id: OperationID, _ cursor: Cursor?, _ view: String? = nil) -> [UInt8] {
    MessageWriting.message(id, "ready") { writer in
      guard let cursor else { return }
      writer.key("cursor")
      writer.string(cursor.description)
      guard let view else { return }
      writer.key("view")
      writer.string(view)
    }
  }

  static func gapText(_ id: OperationID, _ gap: SubscriptionGap) -> [UInt8] {
    MessageWriting.message(id, "gap") { writer in
      writer.key("reason")
      writer.string(gap.reason)
      writer.key("from")
      if let from = gap.from { writer.string(from.description) } else { writer.null() }
      writer.key("to")
      writer.string(gap.to.description)
    }
  }

  static func errorText(_ id: OperationID, errors: [UInt8]) -> [UInt8] {
    MessageWriting.message(id, "error") { writer in
      writer.key("payload")
      writer.raw(errors)
    }
  }
}
