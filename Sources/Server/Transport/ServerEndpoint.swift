public import MartletAccess
internal import MartletWire

/// An endpoint of the program's own, served beside the server's: a row of the same table, with the same checks.
///
/// ```swift
/// configuration.endpoints.append(
///   try ServerEndpoint("/hello") { request, response in
///     await response.send(200, body: Array("Hello \(request.identity.subject ?? "stranger")".utf8))
///   })
/// ```
public struct ServerEndpoint: Sendable {
  /// What has to be known of a caller before its request is served.
  public enum Access: Sendable, Hashable {
    /// Nothing. Pages of any site can send requests here.
    case open
    /// What the server's configuration asks for: an API key, `onConnect`'s consent, or in development that the request
    /// comes from this machine and from no other site's page.
    case identified
  }

  /// Answers one request. It runs in a task of its own, never on an event loop, which is cancelled when the client
  /// leaves. A request that it leaves without an answer, or with an error, is answered with 500.
  public typealias Handler = @Sendable (EndpointRequest, EndpointResponse) async throws -> Void

  let path: PathPattern
  let methods: [String]
  let access: Access
  let bodyBytes: Int
  let sharesOrigins: Bool
  let handler: Handler

  /// An endpoint at `path`.
  ///
  /// - Parameters:
  ///   - path: One path, such as `/hello`, or all paths between a beginning and an end: `/files/{path...}` or
  ///     `/{path...}.json`. The server's own paths come first.
  ///   - methods: The methods that are taken; others are answered with 405.
  ///   - bodyBytes: Bytes of a body; longer ones are answered with 413.
  ///   - sharesOrigins: Whether pages of the origins that may use the server may use the endpoint (CORS).
  ///   - handler: Answers a request.
  /// - Throws: `ServerError` (`endpoint`) for a path or method that cannot be served.
  public init(
    _ path: String, methods: [String] = ["GET"], access: Access = .identified, bodyBytes: Int = 1_048_576,
    sharesOrigins: Bool = false, handler: @escaping Handler
  ) throws(ServerError) {
    try self.init(
      path, takesNothing: false, methods: methods, access: access, bodyBytes: bodyBytes, sharesOrigins: sharesOrigins,
      handler: handler)
  }

  /// - Parameter takesNothing: whether nothing may stand for the braces of the path, too.
  init(
    _ path: String, takesNothing: Bool, methods: [String], access: Access, bodyBytes: Int, sharesOrigins: Bool = false,
    handler: @escaping Handler
  ) throws(ServerError) {
    guard let pattern = PathPattern(path, takesNothing: takesNothing) else {
      throw ServerError(.endpoint, "\"\(path)\" is not a path such as \"/hello\" or \"/files/{path...}\".")
    }
    if let wrong = methods.first(where: { !HTTPSyntax.isToken(Array($0.utf8)[...]) || $0 == "OPTIONS" }) {
      throw ServerError(.endpoint, "\"\(wrong)\" is not a method that the endpoint \(path) can take.")
    }
    self.path = pattern
    self.methods = methods
    self.access = access
    self.bodyBytes = bodyBytes
    self.sharesOrigins = sharesOrigins
    self.handler = handler
  }
}

/// A request to an endpoint of the program's own.
public struct EndpointRequest: Sendable {
  /// The method, in capitals as it was sent.
  public let method: String
  /// The path as it was sent, without the query.
  public let path: String
  /// What stands for the braces of the endpoint's path; empty for an endpoint without.
  public let match: String
  /// What follows the first `?`, as it was sent; nil without one.
  public let query: String?
  /// The whole body.
  public let body: [UInt8]
  /// The caller, as the server admitted it.
  public let identity: Identity
  private let headers: HTTPHeaders

  init(_ request: HTTPRequest) {
    method = request.head.method
    path = request.head.path
    match = request.path
    query = request.head.query
    body = request.body
    identity = request.caller.identity
    headers = request.head.headers
  }

  /// The first header field called `name`, without regard to case.
  public func header(_ name: String) -> String? {
    headers.value(named: name)
  }
}
