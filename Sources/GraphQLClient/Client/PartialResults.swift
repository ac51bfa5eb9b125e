package import MartletJSON
internal import MartletRuntime

/// Makes the results of answers that come in parts.
package enum PartialResults {
  /// Results of a request: what `read` makes of every part but the last, and what `run` shows, which is the whole.
  package static func of<Data: Sendable>(
    _ request: OperationRequest, read: @escaping @Sendable (JSONValue) throws -> GraphQLResponse<Data>,
    running run: @escaping @Sendable (OperationRequest, @Sendable (GraphQLResponse<Data>) -> Void) async throws -> Void
  ) -> AsyncThrowingStream<GraphQLResponse<Data>, any Error> {
    let (stream, results) = AsyncThrowingStream.makeStream(
      of: GraphQLResponse<Data>.self, bufferingPolicy: .bufferingNewest(Self.waitingParts))
    var asked = request
    asked.onPart = { part in
      // What `Data` cannot hold yet is left out.
      guard part.hasNext, var response = try? read(part.result) else { return }
      response.hasNext = true
      results.yield(response)
    }
    let sent = asked
    let task = ConcurrentSpawner().spawn {
      do {
        try await run(sent) { results.yield($0) }
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

  /// Results that wait for their consumer; each has everything of the ones before, which are left out first.
  private static var waitingParts: Int { 8 }
}
