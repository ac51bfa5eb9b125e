internal import MartletJSON

extension Martlet {
  /// Requests about models, by the process's client: the one given to `Martlet.configure`.
  ///
  ///     let todos = Martlet.API.subscribe(request: .subscription(of: Todo.self, type: .onCreate))
  ///     for try await event in todos {
  ///       switch event {
  ///       case .connection(let state): …
  ///       case .data(.success(let todo)): …
  ///       case .data(.failure(let error)): …
  ///       }
  ///     }
  public enum API {
    /// Starts a subscription. Work begins at the call; holding the sequence keeps it running.
    ///
    /// A lost connection does not end it: it says `interrupted`, then `connected`, and between them a gap when events
    /// are missing. Without a client, or with a request that cannot be written, it ends at once with that error.
    public static func subscribe<R: Decodable & Sendable>(
      request: GraphQLRequest<R>
    ) -> MartletAsyncThrowingSequence<GraphQLSubscriptionEvent<R>> {
      do {
        let source = try client(for: request).subscribe(
          request.document, variables: request.variables, operationName: request.operationName, as: JSONValue.self)
        return SubscriptionStream(tellingLifeOf: source) { event in
          if let life = event.life { return .connection(SubscriptionConnectionState(life)) }
          if let gap = event.gap { return .connection(.gap(reason: gap.reason, from: gap.from, to: gap.to)) }
          return .data(request.read(event))
        }
      } catch {
        let failed = SubscriptionCore(BufferPolicy())
        failed.move(to: .finished(.error(error)))
        return SubscriptionStream(core: failed) { _ in throw error }
      }
    }

    /// Runs a query. What the server says about it is the result; what keeps it from answering is thrown.
    /// - Throws: `ConfigurationError`, `GraphQLClientError`, or `CancellationError`.
    public static func query<R: Decodable & Sendable>(
      request: GraphQLRequest<R>
    ) async throws -> Result<R, GraphQLResponseError<R>> {
      let client = try client(for: request)
      return try await result(of: request) {
        try await client.query(
          request.document, variables: request.variables, operationName: request.operationName, as: JSONValue.self)
      }
    }

    /// Runs a mutation, at most once.
    /// - Throws: as `query`, and `outcomeUnknown` when the answer was lost.
    @discardableResult
    public static func mutate<R: Decodable & Sendable>(
      request: GraphQLRequest<R>
    ) async throws -> Result<R, GraphQLResponseError<R>> {
      let client = try client(for: request)
      return try await result(of: request) {
        try await client.mutate(
          request.document, variables: request.variables, operationName: request.operationName, as: JSONValue.self)
      }
    }

    private static func client<R>(for request: GraphQLRequest<R>) throws -> GraphQLClient {
      if let problem = request.problem { throw problem }
      return try Martlet.client
    }

    private static func result<R>(
      of request: GraphQLRequest<R>, _ answer: () async throws -> GraphQLResponse<JSONValue>
    ) async throws -> Result<R, GraphQLResponseError<R>> {
      do {
        return request.read(try await answer())
      } catch let error as GraphQLClientError where error.code == .operationFailed && !error.errors.isEmpty {
        return .failure(.error(error.errors.map { GraphQLServerError($0) }))
      }
    }
  }
}
