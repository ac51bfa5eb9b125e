import MartletGraphQLClient
import MartletJSON
import MartletTesting

/// The dialects a client speaks besides the usual one, each with a scripted server that speaks it.
enum OlderDialect: CaseIterable {
  case graphqlWS, appSync

  func stage(_ configure: (inout ConnectionConfiguration) -> Void = { _ in }) throws -> Stage {
    let stage = try Stage {
      switch self {
      case .graphqlWS: $0.dialect = .graphqlWS
      case .appSync:
        $0.dialect = .appSync
        $0.appSync.authorization = ["x-api-key": "k"]
      }
      configure(&$0)
    }
    stage.server.door = .speaks("graphql-ws")
    stage.server.acknowledgement = acknowledgement
    return stage
  }

  var acknowledgement: JSONObject {
    switch self {
    case .graphqlWS: [:]
    case .appSync: ["connectionTimeoutMs": 300_000]
    }
  }

  /// What the server says when a subscription is live, if anything.
  func confirm(_ ids: ClosedRange<Int>, _ stage: Stage) {
    guard self == .appSync else { return }
    stage.onLoop { server in for id in ids { server.socket?.say(#"{"id":"\#(id)","type":"start_ack"}"#) } }
  }
}
