import CMartletAllocationCounter
import MartletLoop
import MartletRuntime
import MartletServer
import MartletSockets
import Testing

/// What one mutation over HTTP costs the loop, counted exactly. Timings would depend on the machine.
@Suite(.serialized, .timeLimit(.minutes(1))) struct MutationCostTests {
  private static let schema = """
    type Reading @model { id: ID! topic: String! number: Int! text: String sent: String }
    """
  private static let body =
    #"{"query":"mutation Create($input: CreateReadingInput!) { createReading(input: $input) { id } }","variables":"#
    + #"{"input":{"topic":"t17","number":17,"text":"a text of some length for the size of it","sent":"1700000000"}}}"#

  /// A connection that is kept, and sends the next request when the last is answered.
  ///
  /// `@unchecked Sendable` holds because only its loop uses it after it was made.
  private final class Client: ByteChannelHandler, @unchecked Sendable {
    private var received: [UInt8] = []
    private var waiting: CheckedContinuation<String, Never>?
    private var channel: (any ByteChannel)?
    private let loop: EpollLoop

    private init(_ loop: EpollLoop) { self.loop = loop }

    static func open(_ port: Int) async throws -> Client {
      let client = Client(try TestLoop.shared())
      try await withCheckedThrowingContinuation { (done: CheckedContinuation<Void, any Error>) in
        client.loop.execute {
          _ = SocketConnector().connect(
            to: ConnectionTarget(host: "127.0.0.1", port: port, isSecure: false), on: client.loop, handler: client
          ) { result in
            switch result {
            case .success(let channel):
              client.channel = channel
              done.resume()
            case .failure(let error): done.resume(throwing: error)
            }
          }
        }
      }
      return client
    }

    /// Sends the mutation, and returns its answer: head and body.
    func mutate(_ port: Int) async -> String {
      await withCheckedContinuation { continuation in
        loop.execute { [self] in
          waiting = continuation
          channel?.write {
            $0.append(
              "POST /graphql HTTP/1.1\r\nHost: localhost:\(port)\r\nContent-Type: application/json\r\n"
                + "Content-Length: \(MutationCostTests.body.utf8.count)\r\n\r\n\(MutationCostTests.body)")
          }
        }
      }
    }

    func received(_ span: borrowing RawSpan) {
      span.withUnsafeBytes { received.append(contentsOf: $0) }
      // The body ends with the object; every answer here is one small piece.
      guard received.last == UInt8(ascii: "}") else { return }
      answer(String(decoding: received, as: UTF8.self))
      received = []
    }

    func drained() {}
    func closed(_ reason: ChannelCloseReason) { answer("closed: \(reason)") }

    private func answer(_ text: String) {
      waiting?.resume(returning: text)
      waiting = nil
    }

    func leave() async {
      await withCheckedContinuation { done in
        loop.execute { [self] in
          channel?.abort()
          done.resume()
        }
      }
    }
  }

  /// The fewest allocations of the loop for `count` mutations one after the other.
  ///
  /// The fewest of several rounds: asking for the counts allocates too, and a timer may fall into a round.
  private static func fewestAllocations(_ count: Int, _ client: Client, _ server: CountedServer) async -> Int {
    var fewest = Int.max
    for _ in 0..<5 {
      let before = await server.counts()
      for _ in 0..<count { #expect(await client.mutate(server.port).hasPrefix("HTTP/1.1 200 OK\r\n")) }
      let counts = await server.counts() - before
      #expect(counts[.operations] == count)
      fewest = min(fewest, counts.allocations)
    }
    return fewest
  }

  @Test(.enabled(if: martlet_allocations_are_counted(), "a sanitizer has an allocator of its own"))
  func `a mutation over HTTP allocates no more on its loop than it did`() async throws {
    let server = try CountedServer(schema: Self.schema)
    let client = try await Client.open(server.port)
    for _ in 0..<5 { _ = await client.mutate(server.port) }
    let one = await Self.fewestAllocations(1, client, server)
    let many = await Self.fewestAllocations(21, client, server)
    let each = Double(many - one) / 20
    // 1,104 without optimisation, where every iterator and every closure of the library allocates.
    #expect(each <= 1_160)
    await client.leave()
    await server.stop()
  }
}
