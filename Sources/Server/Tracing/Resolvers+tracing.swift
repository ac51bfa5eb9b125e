internal import MartletGraphQLExecution
internal import MartletTracing

extension Resolvers {
  /// The same with a span for each call of the program's own code, in operations whose trace is recorded.
  func traced(by tracer: Tracer) -> Resolvers {
    var traced = self
    for (name, resolver) in fields {
      let title = "\(name.type).\(name.field)"
      switch resolver {
      case .computed(let body):
        traced.fields[name] = .computed { request in
          let span = ResolverSpan(title, request.context, tracer)
          return try span.around { try body(request) }
        }
      case .waiting(let body):
        traced.fields[name] = .waiting { request in
          let span = ResolverSpan(title, request.context, tracer)
          do {
            let value = try await body(request)
            span.end(nil)
            return value
          } catch {
            span.end(error)
            throw error
          }
        }
      case .batched(let body):
        traced.fields[name] = .batched { request in
          let span = ResolverSpan(title, request.context, tracer)
          do {
            let values = try await body(request)
            span.end(nil)
            return values
          } catch {
            span.end(error)
            throw error
          }
        }
      // What opens a sequence says little about the time that its items take.
      case .property, .parent, .builtIn, .callback, .sequence: break
      }
    }
    return traced
  }
}

/// The span of one call of a resolver; nothing in an operation that is not recorded.
private struct ResolverSpan {
  private let tracer: Tracer
  private let title: String
  private let parent: TraceContext?
  private let start: Int64

  init(_ title: String, _ context: RequestContext, _ tracer: Tracer) {
    self.tracer = tracer
    self.title = title
    parent = context.value(as: RequestScope.self)?.trace?.context
    start = parent == nil ? 0 : tracer.now
  }

  func around<Value>(_ body: () throws -> Value) throws -> Value {
    do {
      let value = try body()
      end(nil)
      return value
    } catch {
      end(error)
      throw error
    }
  }

  func end(_ error: (any Error)?) {
    guard let parent else { return }
    tracer.end(
      TraceSpan(
        title, .internal, tracer.child(of: parent), parent: parent.span, start: start, end: tracer.now,
        // The kind of the error alone: its text may hold values.
        failure: error.map { "\(type(of: $0))" }))
  }
}
