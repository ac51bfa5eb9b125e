import Foundation
import Martlet
import MartletRuntime
import MartletWire
import Testing

@testable import MartletLoop
@testable import MartletSockets

/// Clients with the process's own network: which of them ask for compressed answers, and read them.
@Suite(.timeLimit(.minutes(1))) struct CompressedRequestTests {
  enum Way: CaseIterable {
    case httpURL, socketURL, ownNetwork, chain, appSync
  }

  private static func client(_ way: Way, port: Int) throws -> GraphQLClient {
    let http = try #require(URL(string: "http://127.0.0.1:\(port)/graphql"))
    let socket = try #require(URL(string: "ws://127.0.0.1:\(port)/graphql"))
    var configuration = ConnectionConfiguration()
    switch way {
    case .httpURL: return try GraphQLClient(url: http)
    case .socketURL: return try GraphQLClient(url: socket)
    case .ownNetwork:
      // A pin alone makes connections that other clients do not share.
      configuration.pinnedPublicKeys = [Data(count: 32).base64EncodedString()]
      return try GraphQLClient(url: http, configuration: configuration)
    case .chain:
      return GraphQLClient(
        networkTransport: RequestChainNetworkTransport(
          interceptorProvider: DefaultInterceptorProvider(interceptors: []), endpointURL: http))
    case .appSync:
      configuration.dialect = .appSync
      return try GraphQLClient(url: http, configuration: configuration)
    }
  }

  /// A gzip member with one stored block.
  private static func gzip(_ text: String) -> [UInt8] {
    let bytes = Array(text.utf8)
    func little(_ number: Int, _ count: Int) -> [UInt8] {
      (0..<count).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
    }
    return [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3, 1] + little(bytes.count, 2) + little(~bytes.count, 2) + bytes
      + little(Int(GzipMember.checksum(bytes)), 4) + little(bytes.count, 4)
  }

  @Test(arguments: Way.allCases, ["gzip", "x-gzip"])
  func `every client asks for compressed answers and reads them`(way: Way, coding: String) async throws {
    let body = Self.gzip(#"{"data":{"n":1}}"#)
    let head =
      "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Encoding: \(coding)\r\nContent-Length: \(body.count)\r\n\r\n"
    let asked = Lock([UInt8]())
    let server = Server {
      Peer { channel, bytes in
        let isWhole = asked.withLock { all in
          all += bytes
          return String(decoding: all, as: UTF8.self).contains("{ n }")
        }
        if isWhole { channel.write { $0.append(Array(head.utf8) + body) } }
      }
    }
    try await withLoop { loop in
      let listener = try SocketListener.start(.init(), on: [loop], acceptor: server.acceptor)
      let client = try Self.client(way, port: listener.port)
      #expect(try await client.query("{ n }").data?["n"] == 1)
      #expect(String(decoding: asked.withLock { $0 }, as: UTF8.self).contains("Accept-Encoding: gzip\r\n"))
      client.shutDown()
      listener.stop()
    }
  }
}
