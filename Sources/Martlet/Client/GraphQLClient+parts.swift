public import MartletCore
public import MartletGraphQLStore
internal import MartletRuntime

// Answers in parts: `@defer` and `@stream`.

extension GraphQLClient {
  /// Runs a query and shows what there is as it comes: what the store has, if the policy asks it, then every part of an
  /// answer that comes in parts (`@defer`, `@stream`) with everything before it, the whole last.
  ///
  ///     for try await profile in try client.fetchInParts(query: ProfileQuery()) {
  ///       show(profile.data, isWhole: !profile.hasNext)
  ///     }
  ///
  /// Each result replaces the one before. A consumer that is slow sees fewer of them, and the last one always; a partial
  /// result that `Query.Data` cannot hold, because something that is not optional is missing, is left out. The store is
  /// written once, when the answer is whole.
  /// - Throws: `invalidRequest` for variables that cannot be written. The sequence throws as `fetch`.
  public func fetchInParts<Query: GraphQLQuery>(
    query: Query, cachePolicy: CachePolicy = .default
  ) throws -> AsyncThrowingStream<GraphQLResponse<Query.Data>, any Error> {
    var request = try OperationRequest(query)
    let (stream, results) = AsyncThrowingStream.makeStream(
      of: GraphQLResponse<Query.Data>.self, bufferingPolicy: .bufferingNewest(Self.waitingParts))
    let prepared = try store.prepare(request.stored)
    request.onPart = { part in
      guard part.hasNext, let partial = try? prepared.projected(StorePayload(part.result)),
        var response = try? GraphQLResponse<Query.Data>(partial)
      else { return }
      response.hasNext = true
      results.yield(response)
    }
    let answers = store.results(for: request.stored, policy: cachePolicy, fetch: fetching(request))
    let task = ConcurrentSpawner().spawn {
      do {
        for try await answer in answers { results.yield(try GraphQLResponse(answer)) }
        results.finish()
      } catch {
        results.finish(throwing: error)
      }
    }
    results.onTermination = { end in
      if case .cancelled = end { task.cancel() }
    }
    return stream
  }

  /// Results in parts that wait for their consumer; each has everything of the ones before, which are left out first.
  private static var waitingParts: Int { 8 }
}
