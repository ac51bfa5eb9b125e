import Foundation
import Martlet
import MartletServer
import Testing

@Suite struct TutorialTests {
  static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()

  static func document(_ path: String) throws -> String {
    try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
  }

  static let documents =
    ["README.md"]
    + ((try? FileManager.default.contentsOfDirectory(atPath: root.appendingPathComponent("docs/guides").path)) ?? [])
    .filter { $0.hasSuffix(".md") }.sorted().map { "docs/guides/\($0)" }

  /// A port without a listener.
  static func freePort() async throws -> Int {
    var configuration = ServerConfiguration(schema: "type T @model { id: ID! }")
    configuration.access = .development
    configuration.log = .silent
    let server = try GraphQLServer(configuration)
    try server.start()
    let port = server.port
    await server.stop()
    return port
  }

  /// The blocks of a document as one script, on a port of its own. What runs in the background is waited for by what
  /// it writes into its log, and ended with the script.
  static func script(_ document: String, port: Int) -> String {
    var script = "set -e -o pipefail\nset -m\ntrap 'kill $(jobs -p) 2>/dev/null || true' EXIT\n"
    for block in FencedBlocks(document).texts("sh") {
      if block.contains("> server.log") { script += "rm -f server.log\n" }
      // A script is faster than typing: the killed process has to be gone before its folder is opened again.
      script += block.replacingOccurrences(of: "kill -9 %1", with: "kill -9 %1; wait %1 || true") + "\n"
      if block.contains("> server.log") { script += wait("Serving", "server.log") }
      if block.contains("2> watch.log") { script += wait("Subscribed", "watch.log") }
    }
    return script.replacingOccurrences(of: "8090", with: "\(port)")
  }

  private static func wait(_ text: String, _ file: String) -> String {
    "for i in $(seq 400); do grep -q \(text) \(file) 2>/dev/null && break; sleep 0.05; done; grep -q \(text) \(file)\n"
  }

  /// The blocks of a document as they stand, in a shell with job control as a person's has it.
  static func pasted(_ document: String, port: Int) -> String {
    let text = FencedBlocks(document).texts("sh").joined(separator: "\n")
    return "set -m\n" + text.replacingOccurrences(of: "8090", with: "\(port)") + "\n"
  }

  private func run(_ document: String) async throws -> (ShellRun, URL) {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("tutorial-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let script = Self.script(try Self.document(document), port: try await Self.freePort())
    return (try await ShellRun.bash(script, in: folder), folder)
  }

  @Test(.timeLimit(.minutes(2)))
  func `the tutorial works pasted as a whole`() async throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("readme-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let script = Self.pasted(try Self.document("README.md"), port: try await Self.freePort())
    let result = try await ShellRun.bash(script, in: folder)
    #expect(result.status == 0, "\(result.errors.suffix(800))\n\(result.output.suffix(800))")
    #expect(result.output.contains("todo.graphql is good: 1 model"))
    #expect(result.output.contains("\"text\": \"Buy tea\""))
    #expect(result.output.contains("Copied todo-data to todo-backup."))
    let events = try String(contentsOf: folder.appendingPathComponent("events.jsonl"), encoding: .utf8)
      .split(separator: "\n").map { try JSONValue(parsing: String($0)) }
    #expect(events.map { $0["data"]?["onCreateTodo"]?["text"]?.string } == ["Buy tea", "Boil water", "Pour"])
    #expect(events.allSatisfy { $0["cursor"]?.string != nil })
  }

  @Test(.timeLimit(.minutes(3)))
  func `the whole README ends well in a fresh shell in a terminal, with make run and Ctrl-C`() async throws {
    let result = try await ShellRun.bash("'\(Self.root.path)/Tests/Readme/run' --built '\(ShellRun.products.path)'")
    #expect(result.status == 0, "\(result.output)\(result.errors)")
    #expect(result.output.hasSuffix("passed: the whole README in a fresh shell\n"), "\(result.output)")
  }

  @Test(.timeLimit(.minutes(2)), arguments: documents.filter { $0 != "README.md" })
  func `the commands of a guide work, one after the other`(document: String) async throws {
    let (result, folder) = try await run(document)
    defer { try? FileManager.default.removeItem(at: folder) }
    #expect(result.status == 0, "\(document): \(result.errors.suffix(800))\n\(result.output.suffix(400))")
  }

  @Test(arguments: documents)
  func `every Swift snippet of a document is part of a file that is compiled`(document: String) throws {
    var sources: [[Substring]] = []
    for folder in [
      "Examples/HandWritten/Sources", "Examples/TodoWatcher/Sources", "Tests/Guides", "Tests/Command/Snippets",
      "Tests/Generator/Snippets", "Tests/GraphQLClient/Snippets",
    ] {
      let url = Self.root.appendingPathComponent(folder)
      for name in try FileManager.default.contentsOfDirectory(atPath: url.path) {
        sources.append(
          FencedBlocks.unindented(try String(contentsOf: url.appendingPathComponent(name), encoding: .utf8)))
      }
    }
    for snippet in FencedBlocks(try Self.document(document)).texts("swift") {
      let lines = FencedBlocks.unindented(snippet)
      let isCompiled = sources.contains { source in
        source.indices.contains { source[$0...].starts(with: lines) }
      }
      #expect(isCompiled, "\(document) has a snippet that no compiled file has:\n\(snippet)")
    }
  }

  @Test(.timeLimit(.minutes(2)))
  func `a package of one's own with the tutorial's lines has this one as its dependency`() async throws {
    let lines = try #require(
      FencedBlocks(try Self.document("README.md")).texts("text").first { $0.contains("dependencies:") })
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("package-\(UUID().uuidString)")
    let sources = folder.appendingPathComponent("watch/Sources/Watch")
    try FileManager.default.createDirectory(at: sources, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    // The lines name a folder beside the package, whatever this checkout is called.
    try FileManager.default.createSymbolicLink(
      at: folder.appendingPathComponent("martlet"), withDestinationURL: Self.root)
    let manifest = """
      // swift-tools-version: 6.2
      import PackageDescription
      let package = Package(
        name: "watch",
      \(lines))
      """
    try manifest.write(to: folder.appendingPathComponent("watch/Package.swift"), atomically: true, encoding: .utf8)
    try Self.document("Examples/TodoWatcher/Sources/Watch.swift")
      .write(to: sources.appendingPathComponent("Watch.swift"), atomically: true, encoding: .utf8)
    // Resolving looks for the product that the target uses; building it all is more than a test should.
    let run = try await ShellRun.bash(
      "cd watch && env -u MARTLET_SUITES -u MARTLET_NETWORK swift package show-dependencies", in: folder)
    #expect(run.status == 0 && run.output.contains("martlet<"), "\(run.errors)\(run.output)")
  }

  /// Without a key, with one, and its SHA-256.
  static let keys = [nil, "martlet_" + String(repeating: "0", count: 64)]
  static let digest = "8027e55fe110b1379ac24902f1f768e33bd681f02a4b999837eae0749de72ab4"

  @Test(.timeLimit(.minutes(1)), arguments: keys)
  func `the tutorial's Swift is a whole program that prints what is written`(key: String?) async throws {
    #expect(
      FencedBlocks(try Self.document("README.md")).texts("swift")
        == [try Self.document("Examples/TodoWatcher/Sources/Watch.swift").trimmingCharacters(in: .newlines)])
    var configuration = ServerConfiguration(schema: "type Todo @model { id: ID! text: String! }")
    configuration.access =
      key == nil
      ? .development : .keys(try AccessFile(#"{ "keys": [{ "name": "tutorial", "sha256": "\#(Self.digest)" }] }"#))
    configuration.log = .silent
    let server = try GraphQLServer(configuration)
    try server.start()
    let run = try await ShellRun.bash(
      """
      cd "$(mktemp -d)"
      stdbuf -oL TodoWatcher ws://127.0.0.1:\(server.port)/graphql \(key ?? "") > out & watcher=$!
      until grep -q Watching out; do sleep 0.05; done
      martlet mutate 127.0.0.1:\(server.port) 'mutation { createTodo(input: {text: "Tea"}) { id } }' \(key.map { "--header 'x-api-key: \($0)'" } ?? "") > answer
      until grep -q Tea out; do sleep 0.05; done
      kill $watcher; cat out
      """)
    #expect(run.output == "Watching.\nTea\n", "\(run.errors)")
    await server.stop()
  }
}

/// The snippets of guides that are small enough to be run as they are.
@Suite struct SnippetTests {
  @Test func `the guide's list comes from its sequence`() async throws {
    let schema = try ExecutableSchema(
      StreamedReadings.schema, allowsIncrementalDelivery: true, configure: StreamedReadings.attach)
    var parts: [String] = []
    for await part in schema.executeIncrementally("{ readings @stream { station celsius } }") {
      parts.append(String(decoding: part.bytes, as: UTF8.self))
    }
    #expect(
      parts.prefix(2) == [
        #"{"data":{"readings":[]},"pending":[{"id":"0","path":["readings"]}],"hasNext":true}"#,
        #"{"incremental":[{"id":"0","items":[{"station":"roof","celsius":21.5}]}],"hasNext":true}"#,
      ])
  }
}
