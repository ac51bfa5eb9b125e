internal import MartletHTTPWire
package import MartletJSON
internal import MartletVocabulary

extension AppSyncRealtime {
  /// How a client passes its authorization in the opening handshake.
  package enum Passing: Sendable, Hashable {
    /// `?header=<base64>&payload=<base64 of {}>`.
    case query
    /// A second subprotocol `header-<base64url>`.
    case subprotocol
    /// Header fields of the request.
    case headers
  }

  /// What a client adds to the opening handshake.
  package struct Opening: Equatable, Sendable {
    package var subprotocols: [String]
    package var target: String
    /// Members of the authorization that travel as header fields.
    package var headers: [Field]

    /// One header field.
    package struct Field: Equatable, Sendable {
      package var name: String
      package var value: String
    }

    /// - Parameter target: path and query of the real-time address.
    package init(_ passing: Passing, authorization: JSONObject, target: String) {
      let blob = JSONValue.object(authorization).serialized()
      subprotocols = [Dialect.appSync.subprotocol]
      self.target = target
      headers = []
      switch passing {
      case .query:
        let mark = target.utf8.contains(UInt8(ascii: "?")) ? "&" : "?"
        // The plus sign, the slash and the equals sign are percent-encoded: a form decoder would not keep them.
        self.target = "\(target)\(mark)header=\(Self.escaped(Base64.encode(blob)))&payload=e30%3D"
      case .subprotocol: subprotocols.append("header-\(Base64.encodeForURL(blob))")
      case .headers:
        for (name, value) in authorization where name.lowercased() != "host" {
          if let value = value.string { headers.append(Field(name: name, value: value)) }
        }
      }
    }

    private static func escaped(_ text: String) -> String {
      var escaped = ""
      for character in text {
        switch character {
        case "+": escaped += "%2B"
        case "/": escaped += "%2F"
        case "=": escaped += "%3D"
        default: escaped.append(character)
        }
      }
      return escaped
    }
  }

  /// The two addresses of an AppSync endpoint, from either of them.
  package struct Addresses: Equatable, Sendable {
    /// Where queries and mutations go; the authorization always names this host.
    package var graphQLHost: String
    package var graphQLTarget: String
    package var realtimeHost: String
    package var realtimeTarget: String

    /// At AWS the host differs (`ID.appsync-api…`, `ID.appsync-realtime-api…`), under a domain of one's own the path
    /// (`/graphql`, `/graphql/realtime`).
    package init(host: String, target: String) {
      graphQLHost = Self.replacing(".appsync-realtime-api.", by: ".appsync-api.", in: host)
      realtimeHost = Self.replacing(".appsync-api.", by: ".appsync-realtime-api.", in: host)
      graphQLTarget = target
      realtimeTarget = target
      guard graphQLHost == realtimeHost else { return }
      let path = target.prefix { $0 != "?" }
      let query = target[path.endIndex...]
      if path.hasSuffix(Self.realtime) {
        graphQLTarget = "\(path.dropLast(Self.realtime.count))\(query)"
      } else {
        realtimeTarget = "\(path.hasSuffix("/") ? path.dropLast() : path)\(Self.realtime)\(query)"
      }
    }

    private static let realtime = "/realtime"

    private static func replacing(_ part: String, by other: String, in text: String) -> String {
      var start = text.startIndex
      while start < text.endIndex {
        if text[start...].hasPrefix(part) {
          return "\(text[..<start])\(other)\(text[start...].dropFirst(part.count))"
        }
        start = text.index(after: start)
      }
      return text
    }
  }
}
