internal import MartletJSON

// Variables from any Encodable type. Dates, data, URLs and decimals are written as GraphQL servers expect them.

extension GraphQLClient {
  /// Starts a subscription whose variables are the members of a value. Variables that cannot be written fail the stream
  /// with `invalidRequest`.
  ///
  ///     struct Place: Encodable { var airport: String }
  ///     let late = client.subscribe(document, variables: Place(airport: "VIE"))
  public func subscribe<Data: Decodable & Sendable>(
    _ document: String, variables: some Encodable, operationName: String? = nil,
    as type: Data.Type = JSONValue.self, buffer: BufferPolicy? = nil, from beginning: SubscriptionStart = .now
  ) -> SubscriptionStream<GraphQLResponse<Data>> {
    do throws(GraphQLClientError) {
      let members = try JSONObject(variables: variables)
      return subscribe(
        document, variables: members, operationName: operationName, as: type, buffer: buffer, from: beginning)
    } catch {
      let failed = SubscriptionCore(BufferPolicy())
      failed.move(to: .finished(.error(error)))
      return SubscriptionStream(core: failed) { try GraphQLResponse($0) }
    }
  }

  /// Runs a query whose variables are the members of a value.
  /// - Throws: as `query` with an object, and `invalidRequest` for variables that cannot be written.
  public func query<Data: Decodable & Sendable>(
    _ document: String, variables: some Encodable, operationName: String? = nil, as type: Data.Type = JSONValue.self
  ) async throws -> GraphQLResponse<Data> {
    try await query(document, variables: JSONObject(variables: variables), operationName: operationName, as: type)
  }

  /// Runs a mutation whose variables are the members of a value.
  ///
  ///     struct New: Encodable { var line: String; var due: Date }
  ///     try await client.mutate(document, variables: New(line: "RJ 60", due: due), appliesOnce: true)
  ///
  /// - Throws: as `mutate` with an object, and `invalidRequest` for variables that cannot be written.
  @discardableResult
  public func mutate<Data: Decodable & Sendable>(
    _ document: String, variables: some Encodable, operationName: String? = nil, as type: Data.Type = JSONValue.self,
    appliesOnce: Bool = false
  ) async throws -> GraphQLResponse<Data> {
    try await mutate(
      document, variables: JSONObject(variables: variables), operationName: operationName, as: type,
      appliesOnce: appliesOnce)
  }
}

extension JSONObject {
  /// The members of a value, as variables are written.
  fileprivate init(variables value: some Encodable) throws(GraphQLClientError) {
    do {
      if let object = try JSONEncoding(types: .foundation).encode(value).object {
        self = object
        return
      }
    } catch {
      throw GraphQLClientError(.invalidRequest, "the variables cannot be written as JSON", underlying: error)
    }
    throw GraphQLClientError(.invalidRequest, "the variables are not an object of names and values")
  }
}
