internal import MartletGraphQLExecution
internal import MartletGraphQLLanguage
internal import MartletStore
internal import MartletTracing

/// Where one operation stands in a trace, and what its parts are reported to. There is none for an operation that is
/// not recorded.
struct OperationTrace: Sendable {
  private let tracer: Tracer
  let context: TraceContext
  /// The caller's own work; nil for an operation that begins its trace.
  private let parent: UInt64?
  private let start: Int64

  /// - Parameter text: the `traceparent` of the request, if it has one.
  init?(_ tracer: Tracer, _ text: String?) {
    let parent = text.flatMap { TraceContext($0) }
    guard let context = tracer.begin(parent) else { return nil }
    self.tracer = tracer
    self.context = context
    self.parent = parent?.span
    start = tracer.now
  }

  /// Reports the operation when its answer is ready.
  func ending(_ plan: OperationPlan, _ completion: @escaping (ResponseTree) -> Void) -> (ResponseTree) -> Void {
    { result in
      let kind = "\(plan.kind)"
      var name = kind
      var attributes: [(key: String, value: TraceSpan.Value)] = [("graphql.operation.type", .text(kind))]
      if let given = plan.operation.name {
        name += " \(given.text)"
        attributes.append(("graphql.operation.name", .text(given.text)))
      }
      // Texts of errors may hold values: their number alone is shown.
      let failure = result.errors.isEmpty ? nil : "\(result.errors.count) errors"
      tracer.end(
        TraceSpan(
          name, .server, context, parent: parent, start: start, end: tracer.now,
          attributes: attributes, failure: failure))
      completion(result)
    }
  }

  /// Reports a commit of so many writes, once it is durable.
  func commit(_ writes: Int) -> CommitTrace {
    CommitTrace(tracer, tracer.child(of: context), parent: context.span, writes: writes)
  }
}

/// A write from its hand-over to the store to its durability.
struct CommitTrace: Sendable {
  private let tracer: Tracer
  private let context: TraceContext
  private let parent: UInt64
  private let writes: Int
  private let start: Int64

  init(_ tracer: Tracer, _ context: TraceContext, parent: UInt64, writes: Int) {
    self.tracer = tracer
    self.context = context
    self.parent = parent
    self.writes = writes
    start = tracer.now
  }

  func end(_ result: Result<Receipt, StoreError>, in store: Store) {
    var attributes: [(key: String, value: TraceSpan.Value)] = [("martlet.writes", .number(Int64(writes)))]
    var failure: String?
    switch result {
    case .success(let receipt):
      if let offsets = receipt.offsets {
        attributes.append(("martlet.offset", .number(offsets.upperBound)))
        tracer.committed(offsets, of: store, context)
      }
    case .failure(let error): failure = "\(error.code)"
    }
    tracer.end(
      TraceSpan(
        "commit", .internal, context, parent: parent, start: start, end: tracer.now, attributes: attributes,
        failure: failure))
  }
}
