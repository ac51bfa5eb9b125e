import Foundation
import Martlet
import MartletGraphQLClient
import MartletRuntime
import MartletSimulation
import MartletWire
import Testing

/// Files beside operations, sent a stretch at a time.
@Suite struct UploadTests {
  struct SetPicture: GraphQLMutation, Codable {
    static let operationName = "SetPicture"
    static let operationDocument = "mutation SetPicture($title: String, $picture: Upload) { setPicture }"
    var title: String?
    struct Data: Codable, Hashable, Sendable { var setPicture: String? }
  }

  /// A file that is made while it is read, and watches how.
  private final class Endless: UploadFile, UploadFileReader {
    let name = "endless.bin"
    let length: Int
    let delivers: Int
    /// Bytes read so far, the longest read, and whether one is under way.
    let log = Lock((read: 0, longest: 0, opened: 0))

    init(_ length: Int, delivers: Int? = nil) {
      self.length = length
      self.delivers = delivers ?? length
    }

    func open() throws -> any UploadFileReader {
      log.withLock {
        $0.opened += 1
        $0.read = 0
      }
      return self
    }

    func read(_ count: Int) throws -> [UInt8] {
      log.withLock { log in
        let count = min(count, delivers - log.read)
        log.read += count
        log.longest = max(log.longest, count)
        return [UInt8](repeating: 0x78, count: count)
      }
    }
  }

  /// Counts a request's bytes and answers when its body is whole.
  private final class Counting: ByteChannelHandler {
    private let channel: any ByteChannel
    private let told: (Int) -> Void
    private var head: [UInt8] = []
    private var expected: Int?
    private var body = 0

    init(_ channel: any ByteChannel, told: @escaping (Int) -> Void) {
      self.channel = channel
      self.told = told
    }

    func received(_ bytes: borrowing RawSpan) {
      if expected == nil {
        for index in 0..<bytes.byteCount { head.append(bytes.unsafeLoad(fromByteOffset: index, as: UInt8.self)) }
        let text = String(decoding: head, as: UTF8.self)
        guard let end = text.range(of: "\r\n\r\n"), let name = text.range(of: "Content-Length: ") else { return }
        expected = Int(text[name.upperBound...].prefix { $0.isNumber })
        body = text[end.upperBound...].utf8.count
      } else {
        body += bytes.byteCount
      }
      guard body == expected else { return }
      told(body)
      let answer = #"{"data":{"setPicture":"\#(body)"}}"#
      channel.write {
        $0.append(
          "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: \(answer.utf8.count)\r\n\r\n\(answer)")
      }
    }
    func drained() {}
    func closed(_ reason: ChannelCloseReason) {}
  }

  /// Says that a request is too large as soon as it begins.
  private final class Refusing: ByteChannelHandler {
    private let channel: any ByteChannel
    private var hasAnswered = false

    init(_ channel: any ByteChannel) { self.channel = channel }

    func received(_ bytes: borrowing RawSpan) {
      if hasAnswered { return }
      hasAnswered = true
      channel.write { $0.append("HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n") }
    }
    func drained() {}
    func closed(_ reason: ChannelCloseReason) {}
  }

  @Test func `a file of 20 MB is never held: a stretch is read when the one before has left`() throws {
    let executor = SimulatedExecutor(seed: 1)
    let network = SimulatedNetwork(executor)
    let lengths = Recorder<Int>()
    _ = network.listen(port: 80, on: [executor.makeLoop("server")]) { channel in Counting(channel) { lengths.add($0) } }
    let loop = executor.makeLoop("client")
    let file = Endless(20_000_000)
    let form = try UploadForm(
      OperationRequest(SetPicture()),
      [
        GraphQLFile(fieldName: "other", originalName: "m", content: [UInt8](repeating: 1, count: 500_000)),
        GraphQLFile(
          fieldName: "picture", originalName: "a", mimeType: "image/png", source: .file(file)),
      ], boundary: "xx")
    let pool = LoopBound(
      HTTPPool(
        ConnectionTarget(host: "server.test", port: 80, isSecure: false), over: network, on: loop,
        spawner: executor.spawner),
      on: loop)
    let answers = Recorder<String>()
    loop.execute {
      let head = HTTPRequestHead(method: "POST", target: "/", headers: HTTPHeaders([("Host", "server.test")]))
      _ = pool.value.start(HTTPCall(head: head, body: form.body)) { result in
        answers.add((try? result.get()).map { String(decoding: $0.body, as: UTF8.self) } ?? "\(result)")
      }
    }
    executor.run(for: .seconds(60))
    #expect(lengths.all == [form.body.length])
    #expect(answers.all == [#"{"data":{"setPicture":"\#(form.body.length)"}}"#])
    #expect(form.body.length > 20_500_000 && form.body.length < 20_501_000)
    #expect(file.log.withLock { $0.opened } == 1)
    #expect(file.log.withLock { $0.longest } == 65_536)
    let highWater = Recorder<Int>()
    loop.execute { highWater.add(pool.value.bodyHighWater) }
    executor.run(for: .seconds(1))
    // One stretch on its way and one after it.
    #expect(highWater.all.allSatisfy { $0 > 0 && $0 <= 2 * 65_536 + 2_048 }, "\(highWater.all)")
  }

  @Test(arguments: [401, 403]) func `an upload whose credentials are refused is sent again, whole, with others`(
    status: Int
  ) throws {
    let server = ScriptedHTTPServer { _, request in
      request.has("Authorization: Bearer good")
        ? .json(#"{"data":{"setPicture":"ok"}}"#) : .answer(status: status, type: "text/plain", body: "no")
    }
    let client = try server.chained([]) {
      $0.credentials = { reason in .bearer(reason.isRefusal ? "good" : "old") }
    }
    let file = Endless(100_000)
    let picture = GraphQLFile(
      fieldName: "picture", originalName: "a", mimeType: "image/png", source: .file(file))
    _ = try server.executor.run { try await client.upload(operation: SetPicture(), files: [picture]) }
    #expect(server.requests.count == 2 && file.log.withLock { $0.opened } == 2)
    #expect(server.requests.allSatisfy { $0.text.utf8.count > 100_000 && !$0.head.contains("chunked") })
  }

  private func send(_ file: GraphQLFile, _ reply: ScriptedHTTPServer.Reply = .json(#"{"data":{"setPicture":"ok"}}"#))
    throws
    -> (ScriptedHTTPServer, GraphQLClientError?)
  {
    let server = ScriptedHTTPServer { _, _ in reply }
    let client = try server.chained([])
    let error = try server.executor.failure {
      _ = try await client.upload(operation: SetPicture(title: "t"), files: [file])
    }
    return (server, error)
  }

  @Test func `a file that has become shorter is an error that names it, and the connection goes with it`() throws {
    let file = GraphQLFile(
      fieldName: "picture", originalName: "a", mimeType: "image/png", source: .file(Endless(100_000, delivers: 70_000)))
    let (server, error) = try send(file)
    #expect(error?.code == .unreadableFile)
    #expect(error?.message.contains("endless.bin") == true)
    #expect(server.requests.isEmpty)
    server.executor.run(for: .seconds(1))
    #expect(server.network.links.isEmpty)
  }

  @Test func `files on disk are sent as they are, with null in the variables where they belong`() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "martlet-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let url = folder.appending(path: "a \"b\".txt")
    try Data("hello".utf8).write(to: url)
    let (server, error) = try send(
      try GraphQLFile(fieldName: "picture", mimeType: "text/plain", fileURL: url))
    #expect(error == nil)
    let request = try #require(server.requests.first)
    #expect(request.has("GraphQL-Require-Preflight: 1"))
    let parts = request.text.components(separatedBy: "\r\n")
    let operations = try JSONValue(parsing: try #require(parts.first { $0.hasPrefix(#"{"query""#) }))
    #expect(operations["variables"] == ["title": "t", "picture": nil])
    #expect(parts.contains(#"{"0":["variables.picture"]}"#))
    #expect(parts.contains(#"Content-Disposition: form-data; name="0"; filename="a %22b%22.txt""#))
    #expect(parts.contains("hello"))
  }

  @Test func `a file that cannot be read is an error that names it, before anything is sent`() throws {
    let missing = URL(fileURLWithPath: "/nonexistent/picture.png")
    for url in [missing, FileManager.default.temporaryDirectory, try #require(URL(string: "https://a.test/b.png"))] {
      let error = #expect(throws: GraphQLClientError.self) { try GraphQLFile(fieldName: "picture", fileURL: url) }
      #expect(error?.code == .unreadableFile)
      #expect(error?.message.contains(url.isFileURL ? url.path : url.absoluteString) == true)
    }
  }

  @Test func `several files of one field are a list, and a place that is taken is refused`() throws {
    let request = OperationRequest(
      .mutation, document: "mutation M", variables: ["input": ["name": "n"], "list": [1], "text": "t"])
    func file(_ name: String) -> GraphQLFile { GraphQLFile(fieldName: name, originalName: "f", content: [1]) }
    let form = try UploadForm(
      request, [file("files"), file("input.picture"), file("files"), file("list.1")], boundary: "xx")
    #expect(
      form.request.variables == [
        "input": ["name": "n", "picture": nil], "list": [1, nil], "text": "t", "files": [nil, nil],
      ])
    for name in ["text.a", "", "list.7", "input..a"] {
      let error = #expect(throws: GraphQLClientError.self) { try UploadForm(request, [file(name)], boundary: "xx") }
      #expect(error?.code == .invalidRequest, "\(name)")
    }
  }

  @Test func `an answer that comes before the whole request ends it, and its connection is not kept`() throws {
    let executor = SimulatedExecutor(seed: 1)
    let network = SimulatedNetwork(executor)
    _ = network.listen(port: 80, on: [executor.makeLoop("server")]) { channel in
      Refusing(channel)
    }
    let environment = ClientEnvironment(
      loop: executor.makeLoop("client"), sockets: nil, http: nil,
      requests: .connections(network),
      spawner: executor.spawner, seed: 1)
    let transport = RequestChainNetworkTransport(
      interceptorProvider: DefaultInterceptorProvider(interceptors: []),
      endpointURL: try #require(URL(string: "http://server.test/")), environment: environment)
    let client = GraphQLClient(networkTransport: transport)
    let source = Endless(200_000_000)
    let file = GraphQLFile(fieldName: "picture", originalName: "a", mimeType: "image/png", source: .file(source))
    let error = try executor.failure { _ = try await client.upload(operation: SetPicture(), files: [file]) }
    #expect(error?.code == .httpStatus)
    #expect(error?.status == 413)
    executor.run(for: .seconds(1))
    #expect(network.links.isEmpty)
    #expect(source.log.withLock { $0.read } < 1_000_000)
  }
}
