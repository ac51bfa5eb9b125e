package import MartletJSON
package import MartletVocabulary

/// Which dialect a server speaks with a client that asks for a WebSocket.
package struct DialectChoice: Equatable, Sendable {
  package var dialect: Dialect
  /// AppSync's authorization, where the request carries one.
  package var authorization: JSONObject?

  package init(_ dialect: Dialect, authorization: JSONObject? = nil) {
    self.dialect = dialect
    self.authorization = authorization
  }

  /// Nil when nothing offered is spoken here. AppSync's dialect shares its subprotocol with the older protocol; it is
  /// meant where an authorization comes along, and on the path that is its own. Otherwise the newest one offered wins,
  /// in whatever order.
  ///
  /// - Throws: when an authorization comes along that cannot be read.
  package static func choose(
    path: String, query: String?, subprotocols: [String]
  ) throws(GraphQLRequestError) -> DialectChoice? {
    let offersOlder = subprotocols.contains(Dialect.graphqlWS.subprotocol)
    let offersNewer = subprotocols.contains(Dialect.graphqlTransportWS.subprotocol)
    if offersOlder {
      let authorization = try AppSyncRealtime.authorization(query: query, subprotocols: subprotocols)
      if let authorization { return DialectChoice(.appSync, authorization: authorization) }
    }
    if offersNewer { return DialectChoice(.graphqlTransportWS) }
    guard offersOlder else { return nil }
    return DialectChoice(path.hasSuffix("/realtime") ? .appSync : .graphqlWS)
  }
}
