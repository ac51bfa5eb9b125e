internal import MartletGraphQLClientWire
internal import MartletHTTPWire
internal import MartletJSON
internal import MartletVocabulary

/// What one attempt to open a socket says, in the dialect of the configuration.
struct SocketOpening {
  /// Where to, with the path and query of the dialect.
  var endpoint: GraphQLEndpoint
  var subprotocols: [String]
  var headers: [(name: String, value: String)]
  /// What the machine is opened with.
  var payload: JSONObject?
  /// Signs what the machine says.
  var signer: AppSyncRealtime.Signer?

  /// - Parameter calendar: milliseconds since 1970, at `now` of the loop.
  /// - Throws: `invalidRequest` for an authorization that this client cannot carry.
  init(
    _ endpoint: GraphQLEndpoint, _ configuration: ConnectionConfiguration, _ credentials: Credentials,
    calendar: Int64, at now: Instant
  ) throws(GraphQLClientError) {
    self.endpoint = endpoint
    subprotocols = [configuration.dialect.subprotocol]
    headers = configuration.headers
    var payload = configuration.connectingPayload
    switch configuration.dialect {
    case .graphqlTransportWS, .graphqlWS:
      guard credentials.aws == nil else {
        throw GraphQLClientError(.invalidRequest, "IAM signs AppSync's dialect, and no other")
      }
      headers += credentials.headers
      for (key, value) in credentials.payload { payload[key] = value }
      self.payload = payload.isEmpty ? nil : payload
    case .appSync:
      let appSync = configuration.appSync
      let addresses = AppSyncRealtime.Addresses(host: endpoint.host, target: endpoint.target)
      var blob = JSONObject()
      blob["host"] = .string(appSync.host ?? addresses.graphQLHost)
      // Each credential has one source: one that is given twice, and differs, is refused.
      for (name, value) in credentials.headers { blob[name] = .string(value) }
      for members in [payload, appSync.authorization, credentials.payload] {
        for (key, value) in members { blob[key] = value }
      }
      // A signature is of one request: the handshake's would be wrong in every subscription.
      if blob["Authorization"]?.string?.utf8.starts(with: "AWS4-HMAC-SHA256".utf8) == true {
        throw GraphQLClientError(
          .invalidRequest, "a signature of IAM is made anew for each subscription: answer Credentials.iam instead")
      }
      if let aws = credentials.aws {
        let signer = AppSyncRealtime.Signer(
          aws.keys, region: try configuration.signingRegion(endpoint), host: appSync.host ?? addresses.graphQLHost,
          target: addresses.graphQLTarget, calendar: calendar, at: now)
        self.signer = signer
        blob = signer.connection(at: now)
      }
      let passing: AppSyncRealtime.Passing =
        switch appSync.passing {
        case .subprotocol: .subprotocol
        case .query: .query
        case .headers: .headers
        }
      let opening = AppSyncRealtime.Opening(
        passing, authorization: blob, target: addresses.realtimeTarget)
      self.endpoint.host = addresses.realtimeHost
      self.endpoint.target = opening.target
      subprotocols = opening.subprotocols
      for field in opening.headers where !headers.contains(where: { $0.name.lowercased() == field.name.lowercased() }) {
        headers.append((name: field.name, value: field.value))
      }
      self.payload = blob
    }
  }
}

extension SocketOpening {
  /// The attempt as the network is asked for it.
  func request(_ configuration: ConnectionConfiguration) -> MessageSocketRequest {
    MessageSocketRequest(
      endpoint: endpoint, subprotocols: subprotocols, headers: headers, openTimeout: configuration.openTimeout,
      messageBytes: configuration.messageBytes, compresses: configuration.compresses)
  }
}

extension GraphQLEndpoint {
  /// Where queries and mutations go when the URL was AppSync's real-time address.
  func forRequests(_ dialect: Dialect) -> GraphQLEndpoint {
    switch dialect {
    case .graphqlTransportWS, .graphqlWS: return self
    case .appSync:
      let addresses = AppSyncRealtime.Addresses(host: host, target: target)
      var other = self
      other.host = addresses.graphQLHost
      other.target = addresses.graphQLTarget
      return other
    }
  }
}
