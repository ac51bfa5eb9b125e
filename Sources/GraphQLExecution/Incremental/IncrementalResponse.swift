public import MartletGraphQLLanguage
public import MartletJSON
internal import MartletRuntime

/// One payload of a response that is delivered in parts: the initial one, or an update of it.
public struct IncrementalResult: Sendable {
  package let payload: IncrementalPayload
  let format: IncrementalFormat

  /// The payload as JSON text.
  public var bytes: [UInt8] { payload.bytes(format) }
  /// Whether more payloads follow.
  public var hasNext: Bool { payload.hasNext }

  /// The `data` member of the initial payload; nil when the request was not executed, and in updates.
  public var data: JSONValue? {
    switch payload {
    case .whole(let tree), .initial(let tree, _): tree.data?.json
    case .update: nil
    }
  }

  /// The errors of the whole payload, without their extensions. Errors of parts are in the text.
  public var errors: [GraphQLError] {
    switch payload {
    case .whole(let tree), .initial(let tree, _): tree.errors.map(\.error)
    case .update: []
    }
  }
}

/// The payloads of one response, in order (`@defer` and `@stream`).
///
/// The operation begins when reading does. It runs ahead of the reader by one payload, and is cancelled, with
/// everything it waits for, when the reader stops or its task is cancelled. For one reader.
public struct IncrementalResponse: AsyncSequence, Sendable {
  /// One payload.
  public typealias Element = IncrementalResult

  private let spawner: any Spawner
  private let run: @Sendable (@escaping @Sendable (IncrementalPayload) async -> Void) async -> Void
  private let format: IncrementalFormat

  init(
    format: IncrementalFormat, spawner: any Spawner,
    run: @escaping @Sendable (@escaping @Sendable (IncrementalPayload) async -> Void) async -> Void
  ) {
    self.format = format
    self.spawner = spawner
    self.run = run
  }

  /// Begins the operation; once.
  public func makeAsyncIterator() -> Iterator {
    let handoff = Handoff<IncrementalPayload>()
    let run = run
    let task = spawner.spawn {
      await run { await handoff.send($0) }
      handoff.finish()
    }
    return Iterator(reading: Reading(handoff, task), format: format)
  }

  /// Takes one payload at a time.
  public struct Iterator: AsyncIteratorProtocol {
    fileprivate let reading: Reading
    fileprivate let format: IncrementalFormat

    /// The next payload; nil at the end.
    public mutating func next() async -> IncrementalResult? {
      await reading.next().map { IncrementalResult(payload: $0, format: format) }
    }
  }

  /// The reader's end: letting go of it ends the operation.
  fileprivate final class Reading: Sendable {
    private let handoff: Handoff<IncrementalPayload>
    private let task: SpawnedTask

    init(_ handoff: Handoff<IncrementalPayload>, _ task: SpawnedTask) {
      self.handoff = handoff
      self.task = task
    }

    deinit {
      stop()
    }

    func next() async -> IncrementalPayload? {
      await withTaskCancellationHandler {
        await handoff.take()
      } onCancel: {
        stop()
      }
    }

    private func stop() {
      task.cancel()
      handoff.finish()
    }
  }
}

extension ExecutableSchema {
  /// Executes a query or mutation whose `@defer` and `@stream` parts are delivered after the rest. What is wrong with
  /// the request is part of the response, whose only payload it then is. The schema has to be one that
  /// `allowsIncrementalDelivery`; in others the directives do not exist.
  public func executeIncrementally(
    _ document: String, operationName: String? = nil, variables: JSONObject = JSONObject(),
    context: RequestContext = RequestContext(), format: IncrementalFormat = .current
  ) -> IncrementalResponse {
    IncrementalResponse(format: format, spawner: ConcurrentSpawner()) { deliver in
      do throws(RequestErrors) {
        let plan = try self.prepare(
          Array(document.utf8), operationName: operationName, suggests: context.allowsIntrospection)
        guard plan.kind != .subscription else {
          throw RequestErrors(errors: [
            GraphQLError(message: "A subscription has many responses; use subscribe.")
          ])
        }
        await plan.execute(incrementally: variables, context: context, format: format, deliver: deliver)
      } catch {
        await deliver(.whole(.requestError(error.errors)))
      }
    }
  }
}
