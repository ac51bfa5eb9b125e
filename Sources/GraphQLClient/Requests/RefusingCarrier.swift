import MartletGraphQLClientWire

/// Refuses every request, where there is no network for them: another way is never taken in silence.
final class RefusingCarrier: RequestCarrier {
  private let reason: String

  init(_ reason: String) {
    self.reason = reason
  }

  func start(_ request: RequestPayload, _ kind: ResendKind, _ extras: HTTPExtras, _ response: PendingResponse) {
    response.finish(throwing: GraphQLClientError(.invalidRequest, reason))
  }

  func cancel(_ key: ObjectIdentifier) {}
  func shutDown() {}
}
