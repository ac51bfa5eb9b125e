import Foundation
import MartletServer

/// A server with what `martlet serve` does not have without code of its own: fields in Swift, uploads, endpoints that
/// redirect and that ask for a password. It serves until its input ends.
///
/// A process of its own, so that the build of the client over Foundation's network need not build the server again.
@main enum FoundationPeer {
  private static let schema = """
    scalar Upload
    type Note @model { id: ID! text: String }
    type Query { long(count: Int!): String }
    type Mutation { keep(file: Upload!): String }
    """

  static func main() async throws {
    var configuration = ServerConfiguration(schema: schema)
    configuration.data = .memory
    configuration.access = .development
    configuration.log = .silent
    configuration.port = 0
    configuration.resolvers = { resolvers in
      resolvers.compute("Query", "long") { request in
        String(repeating: "x", count: Int(request.arguments["count"]?.int ?? 0))
      }
      resolvers.resolve("Mutation", "keep") { request in
        let file = try Upload(request.arguments["file"])
        return "\(file.filename) \(file.bytes.count) \(file.bytes.reduce(0) { ($0 &* 31 &+ Int($1)) % 1_000_003 })"
      }
    }
    configuration.endpoints = [
      try ServerEndpoint("/moved", methods: ["GET", "POST"], bodyBytes: 1_000) { _, response in
        await response.send(307, headers: [("Location", "/graphql")], body: Array("the body of a redirect".utf8))
      },
      try ServerEndpoint("/locked", methods: ["POST"], access: .open, bodyBytes: 1_000) { request, response in
        guard request.header("Authorization") == "Basic dXNlcjpwYXNz" else {
          return await response.send(401, headers: [("WWW-Authenticate", "Basic realm=\"notes\"")], body: [])
        }
        await response.send(
          200, headers: [("Content-Type", "application/json")], body: Array(#"{"data":{"open":true}}"#.utf8))
      },
      // Four mebibytes, in pieces that say which they are, as fast as they are read.
      try ServerEndpoint("/flood", methods: ["POST"], bodyBytes: 1_000) { _, response in
        await response.start(200, headers: [("Content-Type", "application/octet-stream")])
        for number in 0..<64 {
          guard await response.write([UInt8](repeating: UInt8(number), count: 65_536)) else { return }
        }
      },
      // Takes a request and sends the response after a while.
      try ServerEndpoint("/late", methods: ["POST"], bodyBytes: 100_000) { _, response in
        try? await Task.sleep(for: .milliseconds(300))
        await response.send(
          200, headers: [("Content-Type", "application/json")], body: Array(#"{"data":{"n":1}}"#.utf8))
      },
      // Gives a cookie, and sends what fields of the request say.
      try ServerEndpoint("/fields", methods: ["POST"], access: .open, bodyBytes: 1_000) { request, response in
        let fields = ["Cookie", "Authorization"].map { "\($0)=\(request.header($0) ?? "-")" }.joined(separator: " ")
        await response.send(
          200, headers: [("Content-Type", "application/json"), ("Set-Cookie", "place=here; Path=/")],
          body: Array("{\"data\":{\"fields\":\"\(fields)\"}}".utf8))
      },
      // Takes a request and sends no response.
      try ServerEndpoint("/silent", methods: ["POST"], bodyBytes: 1_000) { _, _ in
        try? await Task.sleep(for: .seconds(30))
      },
    ]
    let server = try GraphQLServer(configuration)
    try server.start()
    // At once: what is printed to a pipe waits for more.
    FileHandle.standardOutput.write(Data("http://127.0.0.1:\(server.port)/graphql\n".utf8))
    // What it keeps is in memory, so that it need not wait for its clients.
    while readLine() != nil {}
  }
}
