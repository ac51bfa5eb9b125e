public import MartletJSON

/// What authenticates the client to the server.
public struct Credentials: Sendable {
  /// Header fields of the WebSocket handshake and of HTTP requests, such as Authorization.
  public var headers: [(name: String, value: String)]
  /// Members that are added to the payload of `connection_init`.
  public var payload: JSONObject
  /// Keys that sign what is sent to AppSync, by WebSocket and by HTTP.
  public var aws: AWSCredentials?
  /// How long they are good from now on, where that is known. Others are asked for before they end
  /// (`CredentialReason.expiring`): on our own servers they take the place of these on the open connection, on others
  /// the connection is replaced and subscriptions resume.
  public var expiresIn: Duration?

  /// Credentials in headers, in the first message, or in both.
  public init(headers: [(name: String, value: String)] = [], payload: JSONObject = JSONObject()) {
    self.headers = headers
    self.payload = payload
  }

  /// Signs what is sent to AppSync: each request by HTTP, each handshake and each subscription anew.
  public static func iam(_ keys: AWSCredentials) -> Credentials {
    var credentials = Credentials()
    credentials.aws = keys
    return credentials
  }

  /// `Authorization: Bearer …` in both places.
  public static func bearer(_ token: String) -> Credentials {
    Credentials(
      headers: [(name: "Authorization", value: "Bearer \(token)")],
      payload: JSONObject([("Authorization", .string("Bearer \(token)"))]))
  }
}

/// Why credentials are asked for.
public enum CredentialReason: Sendable, Hashable {
  /// An attempt to connect; the first is 1.
  case connecting(attempt: Int)
  /// A query or mutation that goes by HTTP.
  case request
  /// The last ones are about to end, and a connection that was opened with them is to stay.
  case expiring
  /// The server refused the last ones, with this close code or HTTP status. Asked once; a second refusal is final.
  case refused(code: Int)

  /// Whether the server refused what was answered last.
  public var isRefusal: Bool {
    switch self {
    case .refused: true
    case .connecting, .request, .expiring: false
    }
  }
}

/// Answers with fresh credentials; asked at every attempt to connect and every HTTP request, never on a connection's
/// own thread.
public typealias CredentialProvider = @Sendable (CredentialReason) async throws -> Credentials
