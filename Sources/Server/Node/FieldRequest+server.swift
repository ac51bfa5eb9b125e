extension FieldRequest {
  /// The data of the server that serves the request; nil outside a `GraphQLServer`.
  public var server: ServerHandle? { context.value(as: RequestScope.self)?.server }
}

extension BatchRequest {
  /// The data of the server that serves the request; nil outside a `GraphQLServer`.
  public var server: ServerHandle? { context.value(as: RequestScope.self)?.server }
}
