public import MartletGraphQLClient
public import MartletJSON
internal import MartletRuntime

/// A server of a preview: it answers from a script, in real time and without a network.
///
///     #Preview {
///       BoardView(client: GraphQLClient(networkTransport: PreviewTransport { _ in
///         [["departed": ["line": "U2"]], ["departed": ["line": "U4"]]]
///       }))
///     }
///
/// A query or mutation gets the first of the script's results, a subscription all of them, one after the other, and
/// stays open after the last. Tests have `ScriptedServer`, in virtual time.
public final class PreviewTransport: NetworkTransport {
  private let pause: Duration
  private let results: @Sendable (OperationRequest) -> [JSONValue]
  private let isShutDown = Lock(false)

  /// - Parameters:
  ///   - pause: Time before each result of a subscription but the first.
  ///   - results: The data of an operation's results.
  public init(pause: Duration = .seconds(1), results: @escaping @Sendable (OperationRequest) -> [JSONValue]) {
    self.pause = pause
    self.results = results
  }

  /// The first result.
  /// - Throws: `invalidRequest` when the script has no result, `shutDown` after that.
  public func send(_ request: OperationRequest) async throws -> OperationPayload {
    if isShutDown.withLock({ $0 }) { throw GraphQLClientError(.shutDown, "the client was shut down") }
    guard let first = results(request).first else {
      throw GraphQLClientError(.invalidRequest, "the preview has no result of this operation")
    }
    return Self.payload(first)
  }

  /// Starts with the first result; the others follow.
  /// - Throws: `shutDown` after that.
  public func subscribe(_ request: OperationRequest, feeding feed: SubscriptionFeed) throws {
    if isShutDown.withLock({ $0 }) { throw GraphQLClientError(.shutDown, "the client was shut down") }
    let (pause, results) = (pause, results(request))
    let script = ConcurrentSpawner().spawn {
      feed.activate(isConfirmed: true)
      for (index, result) in results.enumerated() {
        if index > 0, pause > .zero { try? await Task.sleep(for: pause) }
        if Task.isCancelled { return }
        feed.yield(Self.payload(result))
      }
    }
    feed.onCancel { script.cancel() }
  }

  /// Later operations fail.
  public func shutDown() { isShutDown.withLock { $0 = true } }

  private static func payload(_ data: JSONValue) -> OperationPayload { OperationPayload(["data": data]) }
}
