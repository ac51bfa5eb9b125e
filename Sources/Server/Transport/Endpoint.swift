internal import MartletSockets
internal import MartletWire

/// One row of the table that a server's HTTP requests are dispatched by.
///
/// Whatever is in the row holds before `respond` is called: the method, the sharing with pages of other origins, the
/// refusal under load, the length of the body and the admission of the caller are judged when the head has arrived. A
/// reference, because each request takes its row along.
final class Endpoint {
  /// Whether pages of other origins may use the endpoint, as the access configuration says.
  enum Sharing: Sendable {
    /// Browsers show an answer to pages of the server's own origin alone.
    case none
    /// Preflights are answered, and the origins that may use the server may read the answers.
    case configured
  }

  let path: PathPattern
  /// What the endpoint is for, as the page at `/` says it; nil keeps the endpoint out of the page.
  let meaning: String?
  /// The methods that `respond` takes, in the order in which `Allow` names them. `OPTIONS` is answered by the table.
  let methods: [String]
  let sharing: Sharing
  /// Whether requests are refused unread while the loop is late. Pages for operators are not: they say why.
  let isShedWhenLate: Bool
  /// Whether each request is counted as an operation of its caller. Endpoints of operations count those themselves.
  let countsRequests: Bool
  /// Bytes of the body that a request may bring.
  let bodyBytes: (HTTPRequestHead) -> Int
  /// The answer to a request with a longer body.
  let tooLarge: (HTTPRequestHead) -> ImmediateAnswer
  /// What has to be established of the caller before the body is read.
  let admission: (HTTPRequestHead) -> AdmissionRule
  /// The credentials in a request's query, for an endpoint whose clients show them there.
  let queryCredentials: (HTTPRequestHead) -> [String]
  let respond: (HTTPRequest, HTTPResponder) -> Void
  /// Opens a WebSocket; nil for an endpoint that has none.
  let upgrade: ((WebSocketUpgradeRequest, HTTPRequest) -> SocketAnswer)?
  /// What a client that opens a WebSocket signs in place of its request, for protocols that define such a thing.
  let handshake: SignedRequest?

  init(
    _ path: PathPattern, meaning: String?, methods: [String], sharing: Sharing = .none, isShedWhenLate: Bool = true,
    countsRequests: Bool = false, bodyBytes: @escaping (HTTPRequestHead) -> Int,
    tooLarge: @escaping (HTTPRequestHead) -> ImmediateAnswer = { _ in RequestJudge.tooLarge },
    admission: @escaping (HTTPRequestHead) -> AdmissionRule,
    queryCredentials: @escaping (HTTPRequestHead) -> [String] = { _ in [] },
    upgrade: ((WebSocketUpgradeRequest, HTTPRequest) -> SocketAnswer)? = nil, handshake: SignedRequest? = nil,
    respond: @escaping (HTTPRequest, HTTPResponder) -> Void
  ) {
    self.path = path
    self.meaning = meaning
    self.methods = methods
    self.sharing = sharing
    self.isShedWhenLate = isShedWhenLate
    self.countsRequests = countsRequests
    self.bodyBytes = bodyBytes
    self.tooLarge = tooLarge
    self.admission = admission
    self.queryCredentials = queryCredentials
    self.upgrade = upgrade
    self.handshake = handshake
    self.respond = respond
  }
}

/// A request whose body has arrived and whose caller was admitted. A reference, because every step of its answer keeps
/// it.
final class HTTPRequest {
  let head: HTTPRequestHead
  let body: [UInt8]
  /// What stands for the braces of the endpoint's path.
  let path: String
  let caller: Caller
  /// The client's end of the connection.
  let peer: Peer

  init(head: HTTPRequestHead, body: [UInt8], path: String, caller: Caller, peer: Peer) {
    self.head = head
    self.body = body
    self.path = path
    self.caller = caller
    self.peer = peer
  }

  /// Bytes that the client sent to say what it wants.
  var sentBytes: Int { body.count + (head.query?.utf8.count ?? 0) }
}

/// What has to be established of a caller before its request is served.
enum AdmissionRule {
  /// Nothing: pages for probes.
  case open
  /// That no page of another origin sent the request. Credentials are read where they come along.
  case sameOrigin
  /// The same, and credentials that the access configuration accepts: pages for operators. The program is asked only
  /// where it takes the place of keys.
  case keyed
  /// The same, and that the program accepts the caller, if there is one to ask.
  case identified(ConnectionRequest.Transport)
}

/// What becomes of a request for a WebSocket.
enum SocketAnswer {
  /// It is opened; the handler owns it from then on.
  case open(subprotocol: String?, any SocketEndpoint)
  /// No WebSocket; the connection ends with this answer.
  case refuse(ImmediateAnswer)
}

/// What an upgraded connection is given to. Any protocol over WebSocket is one.
protocol SocketEndpoint: WebSocketHandler {
  /// The upgrade has been answered; called once, before anything is received.
  func opened(_ socket: WebSocketChannel)
}
