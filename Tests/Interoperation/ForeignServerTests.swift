import Foundation
import Martlet
import MartletJSON
import Testing

/// Our client against strawberry-graphql on uvicorn, in every dialect it speaks.
@Suite(.enabled(if: Peers.areInstalled, Peers.missing), .timeLimit(.minutes(3))) struct ForeignServerTests {
  static let dialects = ["transport-ws", "legacy", "multipart", "sse"]

  /// A client that speaks a dialect to the server.
  private static func client(_ dialect: String, _ server: ForeignServer) throws -> GraphQLClient {
    let socket = try #require(URL(string: "ws://127.0.0.1:\(server.port)/graphql"))
    let http = try #require(URL(string: "http://127.0.0.1:\(server.port)/graphql"))
    var configuration = WebSocketTransport.configuration
    configuration.reconnect.firstDelay = .milliseconds(50)
    configuration.reconnect.longestDelay = .milliseconds(200)
    configuration.reconnect.attempts = 200
    let store = GraphQLStore()
    switch dialect {
    case "transport-ws", "legacy":
      let webSocket = WebSocket(
        url: socket, webSocketProtocol: dialect == "legacy" ? .subscriptionWsProtocol : .graphqlWsProtocol)
      return GraphQLClient(
        networkTransport: WebSocketTransport(websocket: webSocket, configuration: configuration), store: store)
    default:
      configuration.subscriptionMediaType = dialect == "sse" ? .eventStream : .multipart
      return GraphQLClient(
        networkTransport: RequestChainNetworkTransport(
          interceptorProvider: DefaultInterceptorProvider(store: store), endpointURL: http,
          configuration: configuration), store: store)
    }
  }

  private static func running(_ client: GraphQLClient) async throws -> Int64? {
    try await client.query("{ running }").data?["running"]?.int
  }

  @Test(arguments: dialects)
  func `values arrive in order, and the server's completion completes`(dialect: String) async throws {
    let server = try await ForeignServer()
    let client = try Self.client(dialect, server)
    let stream = client.subscribe("subscription { tick(upTo: 3) }")
    var seen: [Int64?] = []
    for try await event in stream { seen.append(event.data?["tick"]?.int) }
    #expect(seen == [1, 2, 3])
    #expect(stream.state.description == "finished(completed)")
    withExtendedLifetime(client) { server.stop() }
  }

  @Test(arguments: dialects)
  func `a source that fails is heard after its values`(dialect: String) async throws {
    let server = try await ForeignServer()
    let client = try Self.client(dialect, server)
    let stream = client.subscribe("subscription { tick(upTo: 3, failAt: 2) }")
    var seen: [Int64?] = []
    var messages: [String] = []
    do {
      for try await event in stream {
        if let value = event.data?["tick"]?.int { seen.append(value) }
        messages += event.errors.compactMap { $0["message"]?.string }
      }
    } catch let error as GraphQLClientError {
      messages += error.errors.compactMap { $0["message"]?.string }
    }
    #expect(seen == [1])
    #expect(messages.contains { $0.contains("failed at 2") }, "\(messages)")
    withExtendedLifetime(client) { server.stop() }
  }

  @Test(arguments: dialects)
  func `a subscription the server refuses fails with its errors`(dialect: String) async throws {
    let server = try await ForeignServer()
    let client = try Self.client(dialect, server)
    let stream = client.subscribe("subscription { nothing }")
    var messages: [String] = []
    do {
      // By HTTP this server puts the refusal into the stream's one result.
      for try await event in stream {
        #expect(event.data == nil)
        messages += event.errors.compactMap { $0["message"]?.string }
      }
    } catch let error as GraphQLClientError {
      #expect(error.code == .operationFailed)
      messages += error.errors.compactMap { $0["message"]?.string }
    }
    #expect(messages.contains { $0.contains("nothing") }, "\(messages)")
    withExtendedLifetime(client) { server.stop() }
  }

  @Test(arguments: dialects)
  func `who leaves stops the server's source`(dialect: String) async throws {
    let server = try await ForeignServer()
    let client = try Self.client(dialect, server)
    // This server's older protocol takes no queries.
    let asking = try Self.client("multipart", server)
    let stream = client.subscribe("subscription { forever }")
    var seen: [Int64?] = []
    for try await event in stream {
      seen.append(event.data?["forever"]?.int)
      if seen.count == 2 {
        #expect(try await Self.running(asking) == 1)
        break
      }
    }
    #expect(seen == [1, 2])
    stream.cancel()
    while try await Self.running(asking) != 0 { await Task.yield() }
    #expect(stream.state.description == "finished(cancelled)")
    server.stop()
  }

  @Test(arguments: ["transport-ws", "multipart"])
  func `queries, variables, mutations and errors are answered`(dialect: String) async throws {
    let server = try await ForeignServer()
    let client = try Self.client(dialect, server)
    let hello = try await client.query("query Hello($name: String!) { hello(name: $name) }", variables: ["name": "you"])
    #expect(hello.data?["hello"] == "hello you")
    let failed = try await client.query("{ fails }")
    #expect(failed.data?["fails"]?.isNull == true && failed.errors.first?["message"] == "it failed")
    let added = try await client.mutate(#"mutation { addNote(text: "made") { id text } }"#)
    #expect(added.data?["addNote"]?["text"] == "made")
    server.stop()
  }

  @Test(arguments: ["transport-ws", "legacy"])
  func `a subscription outlives the server's death, and says that events may be missing`(dialect: String) async throws {
    let first = try await ForeignServer()
    let client = try Self.client(dialect, first)
    let stream = client.subscribe("subscription { forever }")
    var iterator = stream.makeAsyncIterator()
    #expect(try await iterator.next()?.data?["forever"]?.int == 1)
    first.kill()
    let second = try await ForeignServer(port: first.port)
    var gap: EventGap?
    while gap == nil { gap = try await iterator.next()?.gap }
    #expect(gap?.reason == .serverCannotResume)
    #expect(try await iterator.next()?.data?["forever"]?.int == 1)
    stream.cancel()
    second.stop()
  }

  @Test(arguments: ["multipart", "sse"])
  func `a subscription by HTTP ends with its server, by a typed error`(dialect: String) async throws {
    let server = try await ForeignServer()
    let client = try Self.client(dialect, server)
    let stream = client.subscribe("subscription { forever }")
    var iterator = stream.makeAsyncIterator()
    _ = try await iterator.next()
    server.kill()
    var failure: GraphQLClientError?
    do {
      while try await iterator.next() != nil {}
    } catch let error as GraphQLClientError {
      failure = error
    }
    #expect(failure?.code == .connectionLost, "\(String(describing: failure))")
    withExtendedLifetime(client) {}
  }
}

/// `Interoperation/server.py` on a port of its own; it goes with the test.
final class ForeignServer: Sendable {
  let port: Int
  private let process: Process

  init(port wanted: Int? = nil) async throws {
    let port = try wanted ?? Self.freePort()
    self.port = port
    let process = Process()
    process.executableURL = URL(fileURLWithPath: Peers.python)
    process.arguments = [Peers.root.appendingPathComponent("Interoperation/server.py").path, "\(port)"]
    let output = Pipe()
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    try process.run()
    self.process = process
    let isReady = await withCheckedContinuation { continuation in
      Thread.detachNewThread {
        var said = Data()
        while !said.contains(UInt8(ascii: "\n")) {
          let piece = output.fileHandleForReading.availableData
          if piece.isEmpty { break }
          said += piece
        }
        continuation.resume(returning: said.starts(with: Data("ready".utf8)))
      }
    }
    try #require(isReady, "the foreign server did not start")
  }

  deinit { kill() }

  func stop() { kill() }

  func kill() {
    guard process.isRunning else { return }
    Foundation.kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
  }

  /// A port nobody listens on now.
  private static func freePort() throws -> Int {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(descriptor) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isBound = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, length) == 0 && getsockname(descriptor, $0, &length) == 0
      }
    }
    try #require(isBound)
    return Int(UInt16(bigEndian: address.sin_port))
  }
}
