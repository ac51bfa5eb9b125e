package import MartletGraphQLClientWire
public import MartletJSON
internal import MartletTracing

/// One operation on its way to a server.
public struct OperationRequest: Sendable {
  /// Query, mutation or subscription.
  public var kind: GraphQLOperationKind
  /// The whole document, fragments included.
  public var document: String
  /// Which operation of the document; nil when it has only one.
  public var operationName: String?
  /// Values of variables by name; absent ones are left out.
  public var variables: JSONObject
  /// What goes beside them under `extensions`.
  public var extensions: JSONObject
  /// Header fields of this request; they travel by HTTP only. A socket has none: see `connectingPayload` there.
  public var headers: [(name: String, value: String)] = []
  /// Where a subscription begins.
  public var start = SubscriptionStart.now
  /// Asked for the variables of a subscription that is sent again after a lost connection, for servers whose places are
  /// variables; nil sends the same ones. Not asked while it has never been sent. Only sockets send again.
  public var resubscribing: (@Sendable () -> JSONObject)?
  /// The mutation carries a number, so that a repeat applies once.
  public var appliesOnce = false
  /// The bound of a subscription's buffer; nil is the transport's.
  public var buffer: BufferPolicy?
  /// Called with every part of an answer that comes in parts (`@defer`, `@stream`), in order, before the whole one.
  /// What it throws ends the operation.
  public var onPart: (@Sendable (OperationPart) throws -> Void)?

  /// A request with the given parts.
  public init(
    _ kind: GraphQLOperationKind, document: String, operationName: String? = nil, variables: JSONObject = JSONObject(),
    extensions: JSONObject = JSONObject()
  ) {
    self.kind = kind
    self.document = document
    self.operationName = operationName
    self.variables = variables
    self.extensions = extensions
  }

  /// The request of an operation's type.
  /// - Throws: `invalidRequest` for variables that cannot be written.
  public init<Operation: GraphQLOperation>(_ operation: Operation) throws(GraphQLClientError) {
    let variables: JSONObject
    do {
      variables = try operation.variables
    } catch {
      throw GraphQLClientError(.invalidRequest, "the variables cannot be written as JSON", underlying: error)
    }
    self.init(
      Operation.operationKind, document: Operation.operationDocument, operationName: Operation.operationName,
      variables: variables)
  }

  /// As it goes over the wire.
  package var wire: RequestPayload {
    var request = RequestPayload(query: document, operationName: operationName, variables: variables)
    request.extensions = extensions
    if let trace = TraceContext.current, request.extensions[TraceContext.name] == nil {
      request.extensions[TraceContext.name] = .string("\(trace)")
    }
    switch start {
    case .now: break
    case .oldest: request.extensions = RequestContinuity(fromOldest: true).added(to: request.extensions)
    case .after(let cursor): request.extensions = RequestContinuity(resume: cursor).added(to: request.extensions)
    }
    return request
  }

  /// What goes beside it by HTTP.
  package func extras(_ configuration: ConnectionConfiguration) -> HTTPExtras {
    HTTPExtras(
      headers: headers + (TraceContext.current.map { [(name: TraceContext.name, value: "\($0)")] } ?? []),
      takesParts: configuration.incrementalDelivery != .off && PartsRequest.occur(in: document))
  }

  package var operationKind: ResendKind {
    switch kind {
    case .query, .subscription: .query
    case .mutation: appliesOnce ? .numberedMutation : .mutation
    }
  }
}

/// What a server answered: `{"data": …, "errors": …, "extensions": …}`.
public struct OperationPayload: Sendable, CustomStringConvertible {
  /// The response as JSON text.
  public var bytes: [UInt8] { didSet { parsed = nil } }
  /// The same parsed, where that was done when it arrived.
  private var parsed: JSONTape?

  /// A response as it came.
  public init(bytes: [UInt8]) {
    self.bytes = bytes
  }

  /// A response that was parsed when it arrived, so that it is not parsed again.
  package init(_ tape: JSONTape) {
    bytes = tape.bytes
    parsed = tape
  }

  /// A response from a value.
  public init(_ value: JSONValue) {
    bytes = value.serialized()
  }

  /// The response as text.
  public var description: String { String(decoding: bytes, as: UTF8.self) }

  /// The response as a value.
  /// - Throws: `JSONError` when it is not JSON.
  public var value: JSONValue {
    get throws(JSONError) { try tape.root.value }
  }

  /// The response where it stands in its bytes.
  package var tape: JSONTape {
    get throws(JSONError) {
      if let parsed { return parsed }
      return try JSONTape(bytes, limits: .held(bytes))
    }
  }
}
