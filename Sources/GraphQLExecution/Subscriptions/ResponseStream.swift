import MartletGraphQLLanguage
public import MartletJSON

/// The responses of one subscription, one for each event of its source (section 6.2.3 "Subscription").
///
/// The source is opened by `subscribe` and read as fast as the responses are taken, no faster. It is let go exactly
/// once: when it ends or fails, when reading stops, or when the reading task is cancelled. For one reader.
public struct ResponseStream: AsyncSequence, Sendable {
  /// One response.
  public typealias Element = ExecutionResult

  private let plan: OperationPlan
  private let variables: JSONObject
  private let context: RequestContext
  private let source: SourceStream
  private let place: UserCodePlace

  init(
    plan: OperationPlan, variables: JSONObject, context: RequestContext, source: SourceStream, place: UserCodePlace
  ) {
    self.plan = plan
    self.variables = variables
    self.context = context
    self.source = source
    self.place = place
  }

  /// Begins to read; once.
  public func makeAsyncIterator() -> Iterator {
    Iterator(stream: self)
  }

  /// Reads one event at a time and executes the subscription's selection on it.
  public struct Iterator: AsyncIteratorProtocol {
    private let stream: ResponseStream
    private let events: SourceEvents
    private let variant: PlanVariant
    private var isOver = false

    init(stream: ResponseStream) {
      self.stream = stream
      events = stream.source.makeEvents()
      variant = stream.plan.variant(for: stream.variables)
    }

    /// The next response; nil at the end. A source that fails ends the stream with one response that says so.
    public mutating func next() async -> ExecutionResult? {
      if isOver { return nil }
      guard !Task.isCancelled else {
        finish()
        return nil
      }
      // The source is user code too: it is asked where user code runs.
      let events = events
      let event: Result<ResolvedValue?, any Error> = await stream.place.run {
        do {
          return .success(try await events.next())
        } catch {
          return .failure(error)
        }
      }
      switch event {
      case .success(let event?) where !Task.isCancelled:
        return ExecutionResult(
          await stream.plan.execute(
            coerced: stream.variables, context: stream.context, root: event, place: stream.place))
      case .success, .failure(is CancellationError):
        finish()
        return nil
      case .failure(let error):
        finish()
        return ExecutionResult(
          ResponseTree(data: nil, errors: [stream.plan.responseError(for: error, of: variant.selection.fields.first)]))
      }
    }

    private mutating func finish() {
      isOver = true
      events.cancel()
    }
  }
}

extension ExecutableSchema {
  /// Opens a subscription.
  ///
  /// - Throws: `SubscriptionError`, when the request is not valid or its source cannot be opened.
  @concurrent
  public func subscribe(
    _ document: String, operationName: String? = nil, variables: JSONObject = JSONObject(),
    context: RequestContext = RequestContext()
  ) async throws(SubscriptionError) -> ResponseStream {
    let plan: OperationPlan
    do {
      plan = try prepare(Array(document.utf8), operationName: operationName)
    } catch {
      throw SubscriptionError(ExecutionResult(.requestError(error.errors)))
    }
    return try await plan.subscribe(variables: variables, context: context)
  }

}

extension OperationPlan {
  /// An error from outside the execution of fields, as the response shows it: of the source of a subscription or list
  /// that is the field's.
  func responseError(
    for error: any Error, of field: FieldPlan?, locations: [SourceLocation] = [],
    path: [GraphQLError.PathElement] = []
  ) -> ResponseError {
    responseError(
      for: error, field: field.map { "\($0.parentName).\($0.definition.name)" } ?? root.name, locations: locations,
      path: path)
  }

  /// The same for a field by its name, such as `Subscription.ticks`.
  func responseError(
    for error: any Error, field: String, locations: [SourceLocation], path: [GraphQLError.PathElement]
  ) -> ResponseError {
    if let error = error as? ResolverError {
      var response = ResponseError(error.message, locations: locations, path: path, extensions: error.extensions)
      response.members = error.members
      return response
    }
    if let note = schema.onUnexpectedError, !(error is CancellationError) {
      note(UnexpectedError(field: field, path: path, operation: operation.name?.text, error: error))
    }
    switch schema.exposure {
    case .messages: return ResponseError(ResolverError.text(of: error), locations: locations, path: path)
    case .masked(let message): return ResponseError(message, locations: locations, path: path)
    }
  }
}

/// Why a subscription did not begin.
public struct SubscriptionError: Error, Sendable {
  /// The response that says what is wrong; it has no data.
  public let response: ExecutionResult

  init(_ response: ExecutionResult) {
    self.response = response
  }

  init(_ error: ResponseError) {
    self.init(ExecutionResult(ResponseTree(data: nil, errors: [error])))
  }
}
