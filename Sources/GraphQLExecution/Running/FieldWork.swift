import MartletGraphQLLanguage
package import MartletJSON

/// One call to a resolver that answers later. A reference, because it waits in the queue and among the calls under way.
package final class FieldWork {
  /// Names the call when its answer is handed in.
  package internal(set) var id = 0
  package let field: FieldPlan
  let isBatch: Bool
  package let arguments: JSONObject
  package let context: RequestContext
  /// The parents.
  package internal(set) var sources: [ResolvedValue]
  /// Where the answers belong, one position for each parent.
  var places: [[ResultStep]]
  let path: [GraphQLError.PathElement]
  /// How many items a sequence is asked for at first.
  let wanted: Int
  /// The streamed list whose source is asked for an item; nil for a field's resolver.
  let list: StreamedList?
  private let source: SourceEvents?

  init(
    field: FieldPlan, isBatch: Bool, arguments: JSONObject, context: RequestContext, sources: [ResolvedValue],
    places: [[ResultStep]], path: [GraphQLError.PathElement], wanted: Int
  ) {
    self.wanted = wanted
    list = nil
    source = nil
    self.field = field
    self.isBatch = isBatch
    self.arguments = arguments
    self.context = context
    self.sources = sources
    self.places = places
    self.path = path
  }

  /// Asks the source of a list for its next item.
  init(asking source: SourceEvents, for list: StreamedList, context: RequestContext) {
    field = list.plan.items
    isBatch = false
    arguments = JSONObject()
    self.context = context
    sources = []
    places = []
    path = list.path
    wanted = 1
    self.list = list
    self.source = source
  }

  /// Drops the parents whose positions are no longer part of the response.
  func keep(_ isWanted: ([ResultStep]) -> Bool) {
    if places.allSatisfy(isWanted) { return }
    keep(places.indices.filter { isWanted(places[$0]) })
  }

  /// Drops all parents but those at `kept`.
  func keep(_ kept: [Int]) {
    guard kept.count < places.count else { return }
    places = kept.map { places[$0] }
    sources = kept.map { sources[$0] }
  }

  /// The call itself, free of the tree it fills.
  package var call: ResolverCall {
    ResolverCall(
      resolver: field.resolver,
      request: FieldRequest(
        source: sources.first ?? .null, arguments: arguments, context: context, typeName: field.parentName,
        fieldName: field.name, path: path, slots: field.parentSlots),
      batch: batch, wanted: wanted, events: source)
  }

  private var batch: BatchRequest {
    BatchRequest(
      sources: sources, arguments: arguments, context: context, typeName: field.parentName, fieldName: field.name,
      slots: field.parentSlots)
  }

  /// Makes the call without a task. False, and no call, when it has to run in one. `completion` is called on any
  /// thread.
  package func performWithoutTask(_ completion: @escaping @Sendable (ResolverResults) -> Void) -> Bool {
    guard case .callback(let body) = field.resolver else { return false }
    body(batch, completion)
    return true
  }
}

/// A call to a resolver, ready to be made anywhere.
package struct ResolverCall: Sendable {
  let resolver: FieldResolver
  let request: FieldRequest
  package let batch: BatchRequest
  let wanted: Int
  /// The source of a list that is asked for its next item, in place of the resolver.
  let events: SourceEvents?

  /// Makes the call and waits for its answers, one per parent.
  @concurrent
  package func perform() async -> ResolverResults {
    do {
      if let events { return try await events.next().map { [.success($0)] } ?? [] }
      switch resolver {
      case .sequence(let open): return [.success(try await open(request).makeEvents().first(wanted))]
      case .waiting(let body): return [.success(try await body(request))]
      case .batched(let body): return try await body(batch).map { .success($0) }
      case .callback(let body):
        return await withCheckedContinuation { continuation in
          body(batch) { continuation.resume(returning: $0) }
        }
      case .computed(let body), .builtIn(let body): return [.success(try body(request))]
      case .property, .parent: return []
      }
    } catch {
      if events != nil { return [.failure(error)] }
      return batch.sources.map { _ in .failure(error) }
    }
  }
}
