public import MartletTracing

extension FieldRequest {
  /// Where the operation stands in a trace, to continue it in what the resolver asks of others; nil when the operation
  /// is not recorded.
  ///
  /// ```swift
  /// try await TraceContext.$current.withValue(request.trace) { try await client.query(document) }
  /// ```
  public var trace: TraceContext? { context.value(as: RequestScope.self)?.trace?.context }
  /// The data of the server that serves the request; nil outside a `GraphQLServer`.
  public var server: ServerHandle? { context.value(as: RequestScope.self)?.server }
}

extension BatchRequest {
  /// Where the operation stands in a trace; nil when it is not recorded.
  public var trace: TraceContext? { context.value(as: RequestScope.self)?.trace?.context }
  /// The data of the server that serves the request; nil outside a `GraphQLServer`.
  public var server: ServerHandle? { context.value(as: RequestScope.self)?.server }
}
