import Foundation
import MartletServer
import Testing

/// Files of a folder, served beside the server's endpoints.
@Suite(.timeLimit(.minutes(1))) struct StaticFileTests {
  @Test func `files are served with their type, and nothing outside the folder is`() async throws {
    let folder = try TemporaryFolder()
    let root = URL(fileURLWithPath: folder.path)
    let pages = root.appendingPathComponent("pages")
    try FileManager.default.createDirectory(at: pages.appendingPathComponent("deep"), withIntermediateDirectories: true)
    try Data("secret".utf8).write(to: root.appendingPathComponent("secret.txt"))
    try Data("<p>home".utf8).write(to: pages.appendingPathComponent("index.html"))
    try Data("hidden".utf8).write(to: pages.appendingPathComponent(".hidden"))
    let large = Data((0..<300_000).map { UInt8($0 % 251) })
    try large.write(to: pages.appendingPathComponent("deep/a b.bin"))
    try FileManager.default.createSymbolicLink(
      at: pages.appendingPathComponent("out.txt"), withDestinationURL: root.appendingPathComponent("secret.txt"))
    let endpoint = try ServerEndpoint(files: pages.path, at: "/app")
    try await Served.with("type Note @model { id: ID! }", { $0.endpoints = [endpoint] }) { server in
      let port = server.port
      let home = try await HTTPRequest.send("GET", "/app/", port: port)
      #expect(home.status == 200 && home.text.contains("<p>home") && home.head.contains("text/html; charset=utf-8"))
      let tag = try #require(home.head.split(separator: "\r\n").first { $0.hasPrefix("ETag: ") }?.dropFirst(6))
      let again = try await HTTPRequest.send("GET", "/app/", port: port, headers: [("If-None-Match", String(tag))])
      #expect(again.status == 304 && again.body.isEmpty)
      #expect(try await HTTPRequest.send("HEAD", "/app/index.html", port: port).status == 200)
      let raw = try await HTTPRequest.send("GET", "/app/deep/a%20b.bin", port: port)
      #expect(raw.status == 200 && raw.head.contains("application/octet-stream"))
      let wrong = [
        "/app/../secret.txt", "/app/%2e%2e/secret.txt", "/app/..%2fsecret.txt", "/app/.hidden", "/app/out.txt",
        "/app/deep", "/app/deep/", "/app/index.html/", "/app//index.html", "/app/%00", "/app/%ff", "/apple",
        "/app/nothing",
      ]
      for path in wrong {
        let answer = try await HTTPRequest.send("GET", path, port: port)
        #expect(answer.status == 404 && !answer.text.contains("secret"), "\(path): \(answer.status)")
      }
    }
  }

  @Test(arguments: ["/app", "/app/"])
  func `a folder without the slash leads to its page, in a way that proxies do not break`(
    mount: String
  ) async throws {
    let folder = try TemporaryFolder()
    let pages = URL(fileURLWithPath: folder.path)
    try FileManager.default.createDirectory(at: pages.appendingPathComponent("a b"), withIntermediateDirectories: true)
    try Data("<p>home".utf8).write(to: pages.appendingPathComponent("index.html"))
    try Data("<p>inner".utf8).write(to: pages.appendingPathComponent("a b/index.html"))
    let endpoint = try ServerEndpoint(files: pages.path, at: mount)
    try await Served.with("type Note @model { id: ID! }", { $0.endpoints = [endpoint] }) { server in
      for (path, target) in [
        ("/app", "./app/"), ("/app?a=1", "./app/?a=1"), ("/app/a%20b", "./a%20b/"),
      ] {
        for method in ["GET", "HEAD"] {
          let answer = try await HTTPRequest.send(method, path, port: server.port)
          #expect(answer.status == 308, "\(method) \(path)")
          #expect(answer.head.split(separator: "\r\n").contains("Location: \(target)"), "\(answer.head)")
        }
      }
      #expect(try await HTTPRequest.send("GET", "/app/a%20b/", port: server.port).text.contains("<p>inner"))
      #expect(try await HTTPRequest.send("GET", "/apple", port: server.port).status == 404)
    }
  }
}
