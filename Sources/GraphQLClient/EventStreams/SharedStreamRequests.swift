import MartletGraphQLClientWire
import MartletHTTPWire
import MartletRuntime

/// The requests of a shared event stream, each with the same header fields.
struct SharedStreamRequests {
  let endpoint: GraphQLEndpoint
  let configuration: ConnectionConfiguration
  /// What they are sent with, from now on.
  var credentials = Credentials()

  /// Takes other credentials for what follows.
  /// - Throws: `invalidRequest` for credentials that no request of a stream can carry.
  mutating func use(_ credentials: Credentials) throws(GraphQLClientError) {
    guard credentials.aws == nil else {
      throw GraphQLClientError(.invalidRequest, "IAM signs single event streams, not shared ones")
    }
    var checked = HTTPHeaders()
    try checked.append(checking: configuration.headers + credentials.headers)
    self.credentials = credentials
  }

  /// - Parameter token: Names the stream; nil to reserve one.
  func request(_ method: String, _ token: String?) -> HTTPExchangeRequest {
    var call = HTTPExchangeRequest(method, url: endpoint.httpURL)
    call.headers = configuration.headers + credentials.headers
    if let token { call.headers.append((name: "\(SharedEventStream.tokenHeader)", value: token)) }
    call.totalTime = configuration.requestTimeout
    call.connectTime = configuration.openTimeout
    call.bodyBytes = configuration.messageBytes
    return call
  }

  /// Whether a server's answer can be a token.
  static func isToken(_ text: String) -> Bool {
    (1...512).contains(text.utf8.count) && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }
  }
}

/// One subscription of a shared event stream.
struct SharedStreamOperation {
  var subscriber: HTTPSubscriber
  /// Its `POST`, until that is answered.
  var start: WholeExchange?
  var wasSent = false
  /// Its consumer has no room; also while another stream is made.
  var isHolding = false
  /// Its `POST` was refused for its credentials, and sent again with new ones.
  var wasRefused = false

  /// The stream is gone: on another one it begins again.
  mutating func letGo() {
    start?.cancel()
    start = nil
    (wasSent, wasRefused) = (false, false)
  }
}
