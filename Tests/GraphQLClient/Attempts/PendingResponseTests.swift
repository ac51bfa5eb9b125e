import MartletGraphQLClient
import MartletJSON
import Testing

@Suite struct PendingResponseTests {
  @Test func `parts are handed out in order, then the end, and what comes later is dropped`() async throws {
    let response = PendingResponse(bytes: 100)
    response.deliver(OperationPayload(bytes: [1]))
    response.deliver(OperationPayload(bytes: [2]))
    response.finish()
    response.deliver(OperationPayload(bytes: [3]))
    response.finish(throwing: GraphQLClientError(.timeout, "late"))
    #expect(try await response.next()?.bytes == [1])
    #expect(try await response.next()?.bytes == [2])
    #expect(try await response.next()?.bytes == nil)
  }

  @Test func `bytes that take the place of an answer's are what is read of it`() throws {
    var payload = OperationPayload(try JSONTape(Array(#"{"data":{"a":1}}"#.utf8)))
    #expect(try payload.value == ["data": ["a": 1]])
    payload.bytes = Array(#"{"data":{"a":2}}"#.utf8)
    #expect(try payload.value == ["data": ["a": 2]] && payload.tape.bytes == payload.bytes)
  }

  @Test func `an error follows the parts that arrived before it`() async throws {
    let response = PendingResponse(bytes: 100)
    response.deliver(OperationPayload(bytes: [1]))
    response.finish(throwing: GraphQLClientError(.connectionLost, "cut"))
    #expect(try await response.next()?.bytes == [1])
    let error = await #expect(throws: GraphQLClientError.self) { _ = try await response.next() }
    #expect(error?.code == .connectionLost)
  }

  @Test func `a response that completes without a result fails`() async throws {
    let response = PendingResponse(bytes: 100)
    response.finish()
    let error = await #expect(throws: GraphQLClientError.self) { _ = try await response.whole() }
    #expect(error?.code == .invalidResponse)
  }

  @Test func `parts beyond the bound end the operation with an error that says so`() async throws {
    let response = PendingResponse(bytes: 3)
    let (left, leaving) = AsyncStream.makeStream(of: Void.self)
    response.onCancel { leaving.finish() }
    response.deliver(OperationPayload(bytes: [1, 2]))
    response.deliver(OperationPayload(bytes: [3, 4]))
    for await _ in left {}
    #expect(try await response.next()?.bytes == [1, 2])
    let error = await #expect(throws: GraphQLClientError.self) { _ = try await response.next() }
    #expect(error?.code == .responseTooLarge)
  }

  @Test func `cancelling the task that waits ends the operation`() async throws {
    let response = PendingResponse(bytes: 3)
    let (left, leaving) = AsyncStream.makeStream(of: Void.self)
    response.onCancel { leaving.finish() }
    let task = Task { try await response.whole() }
    task.cancel()
    for await _ in left {}
    await #expect(throws: CancellationError.self) { _ = try await task.value }
    #expect(response.isOver)
  }
}
