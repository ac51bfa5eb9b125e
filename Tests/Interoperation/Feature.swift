import Foundation
import Martlet
import MartletJSON
import MartletTestSupport
import Testing

/// A line of the second table: something that requests by HTTP can do, with one peer at one end.
struct Feature: Sendable, Hashable, CustomTestStringConvertible {
  enum Kind: String, Sendable {
    case requests, lists, uploads, parts

    /// As the table calls it.
    var name: String {
      switch self {
      case .requests: "GraphQL over HTTP"
      case .lists: "several operations in a request"
      case .uploads: "uploads"
      case .parts: "responses in parts (`@defer`)"
      }
    }

    /// What is checked.
    var what: String {
      switch self {
      case .requests: "a query with variables, an error beside data, a mutation"
      case .lists: "two operations, answered in order"
      case .uploads: "a file with its name and content"
      case .parts: "the first part, then what was deferred"
      }
    }
  }

  let kind: Kind
  let end: Row.End
  let packages: [String]
  let peer: String

  var testDescription: String { "\(end.rawValue): \(kind) with \(packages.joined(separator: " on "))" }

  static let all: [Feature] = [
    Feature(kind: .requests, end: .server, packages: ["gql", "aiohttp"], peer: "gql"),
    Feature(kind: .requests, end: .server, packages: ["sgqlc"], peer: "sgqlc"),
    Feature(kind: .lists, end: .server, packages: ["gql", "aiohttp"], peer: "gql"),
    Feature(kind: .uploads, end: .server, packages: ["gql", "aiohttp"], peer: "gql"),
    Feature(kind: .parts, end: .server, packages: ["aiohttp"], peer: "aiohttp"),
    Feature(kind: .requests, end: .client, packages: ["strawberry-graphql", "uvicorn"], peer: "strawberry"),
    Feature(kind: .requests, end: .client, packages: ["ariadne", "uvicorn"], peer: "ariadne"),
    Feature(kind: .uploads, end: .client, packages: ["strawberry-graphql", "uvicorn"], peer: "strawberry"),
    Feature(kind: .uploads, end: .client, packages: ["ariadne", "uvicorn"], peer: "ariadne"),
    Feature(kind: .parts, end: .client, packages: ["strawberry-graphql", "uvicorn"], peer: "strawberry"),
  ]

  /// Nothing, or why it failed.
  func failure() async -> String? {
    do {
      switch end {
      case .server: try await withOurServer()
      case .client: try await withOurClient()
      }
      return nil
    } catch {
      return "\(error)"
    }
  }

  private func withOurServer() async throws {
    let ours = try OurServer()
    let told: JSONValue
    let expected: JSONValue
    switch kind {
    case .requests:
      told = try await Peers.run("client.py", [peer, "http", ours.url, "requests"])["requests"] ?? .null
      expected = [
        "values": [["hello": "hello you"], ["createNote": ["text": "made"]]], "errors": ["it failed"],
        "ending": "completed",
      ]
    case .lists:
      told = try await Peers.run("requests_client.py", ["list", ours.url])
      expected = [["hello": "hello world"], ["hello": "hello you"]]
    case .uploads:
      told = try await Peers.run("requests_client.py", ["upload", ours.url])
      expected = ["keep": "cat.png pixels"]
    case .parts:
      told = try await Peers.run("requests_client.py", ["parts", ours.url])
      expected = [
        [
          "data": ["slow": ["fast": 1]], "pending": [["id": "0", "path": ["slow"], "label": "rest"]], "hasNext": true,
        ],
        ["incremental": [["id": "0", "data": ["late": 2]]], "completed": [["id": "0"]], "hasNext": false],
      ]
    }
    await ours.stop()
    try expect(told == expected, "\(told)")
  }

  private func withOurClient() async throws {
    let server = try await ForeignServer(peer)
    guard let url = URL(string: "http://127.0.0.1:\(server.port)/graphql") else { return }
    let transport = RequestChainNetworkTransport(
      interceptorProvider: DefaultInterceptorProvider(interceptors: []), endpointURL: url)
    switch kind {
    case .requests: try await Row.requests(GraphQLClient(networkTransport: transport))
    case .uploads:
      let request = OperationRequest(
        .mutation, document: "mutation K($file: Upload!) { keep(file: $file) }", variables: ["file": nil])
      let file = GraphQLFile(fieldName: "file", originalName: "cat.png", content: Array("pixels".utf8))
      let answer = try await transport.upload(request, files: [file]).value
      try expect(answer["data"] == ["keep": "cat.png pixels"], "\(answer)")
    case .parts:
      let answer = try await GraphQLClient(networkTransport: transport).query("{ slow { fast ... @defer { late } } }")
      try expect(answer.data?["slow"] == ["fast": 1, "late": 2], "\(answer)")
    case .lists: throw Peers.Failed(description: "nothing to check")
    }
    server.kill()
  }
}
