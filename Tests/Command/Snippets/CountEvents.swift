import Foundation
import Martlet

/// The guide's metrics: one chain before any transport.
struct Metrics: Interceptor {
  let count: @Sendable (String) -> Void

  func send(_ request: OperationRequest, next: Next) async throws -> OperationPayload {
    count("\(request.kind)")
    return try await next(request)
  }

  func received(_ news: SubscriptionNews, of request: OperationRequest) {
    if case .event = news { count("event") }
  }
}

enum CountEvents {
  static func transport(url: URL, count: @escaping @Sendable (String) -> Void) throws -> InterceptedTransport {
    let transport = InterceptedTransport(
      try WebSocketTransport(url: url),
      provider: DefaultInterceptorProvider(interceptors: [Metrics(count: count), RetryInterceptor()]))
    return transport
  }
}
