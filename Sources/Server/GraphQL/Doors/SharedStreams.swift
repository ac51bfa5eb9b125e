internal import MartletJSON
internal import MartletWireProtocols

/// Who a request about a shared event stream comes from.
struct SharedStreams {
  private let service: GraphQLService

  init(_ service: GraphQLService) {
    self.service = service
  }

  private var admission: Admission { service.transport.admission }

  /// Whether a request opens a stream by nothing but its token: a browser's event stream can send no header.
  func isTicket(_ head: HTTPRequestHead) -> Bool {
    guard head.method == "GET", let token = SharedEventStream.token(of: head), showsNothing(head) else { return false }
    return SharedEventStream.opens(head, body: []) && service.node.streams.isReserved(token)
  }

  /// Whether a request brings no credentials.
  func showsNothing(_ head: HTTPRequestHead) -> Bool {
    head.headers["x-api-key"] == nil && head.headers["Authorization"] == nil
      && admission.credentials(of: head).isEmpty
  }

  /// The owner that a stream has when this request reserves it.
  func owner(of request: HTTPRequest) -> StreamOwner {
    let all = admission.credentials(of: request.head)
    var owner = StreamOwner(grant: request.caller.grant, shown: JSONObject(), credentials: all)
    guard service.node.onConnect != nil else { return owner }
    for (name, value) in all {
      // The key may come in whichever field.
      if case .key? = value.string.flatMap({ admission.access.grant(apiKey: nil, authorization: $0) }) { continue }
      owner.shown[name] = value
    }
    return owner
  }
}
