import Foundation
import Testing

/// House rules as tests. Each names what to use in place of what it bans.
@Suite struct RuleTests {
  struct Ban {
    let pattern: String
    let instead: String
    /// Folders or files under Sources where it is allowed.
    let allowed: [String]
  }

  static let bans: [Ban] = [
    Ban(
      pattern: #"\bTask(\.detached|\.immediate)?(\s*\(priority:[^)]*\))?\s*\{"#, instead: "Spawner.spawn",
      allowed: ["Sources/Runtime/ConcurrentSpawner.swift", "Sources/Simulation/", "Sources/Command/", "Sources/Lab/"]),
    Ban(
      pattern: #"(Clock|Date|DispatchTime)\(?\)?\.now\b|\bDate\(\)"#, instead: "Loop.now",
      allowed: [
        "Sources/Loop/Turns/EpollLoop.swift", "Sources/FoundationNetwork/Loop/DispatchLoop.swift", "Sources/Command/",
        "Sources/Lab/",
        // The clock that the store gets.
        "Sources/Server/Node/ServerAssembly+process.swift",
        // Threads without a loop.
        "Sources/Runtime/Bell.swift", "Sources/Server/Logging/", "Sources/Server/Tracing/Tracer.swift",
        "Sources/DataStore/Room/StoreSurroundings.swift",
        // The duration of a run.
        "Sources/SimulationTool/",
      ]),
    Ban(
      pattern: #"Task\.sleep|Thread\.sleep|\busleep\("#, instead: "Loop.schedule",
      allowed: [
        "Sources/Command/", "Sources/Lab/", "Sources/Simulation/",
        // A preview of a view has no loop.
        "Sources/Testing/Server/PreviewTransport.swift",
      ]),
    Ban(
      pattern: #"\.random\(|SystemRandomNumberGenerator|randomElement\(\)|\.shuffled\(\)"#,
      instead: "a generator passed in",
      allowed: ["Sources/Command/", "Sources/Lab/", "Sources/Runtime/SystemChance.swift"]),
    Ban(
      pattern: #"\.(message|description)\.(contains|hasPrefix|hasSuffix)\(""#,
      instead: "a code: other words would break the comparison", allowed: []),
    Ban(pattern: #"\btry!|\bas!"#, instead: "a typed error", allowed: []),
    Ban(pattern: #"\bfatalError\("#, instead: "a typed error, or a precondition that names the rule", allowed: []),
    Ban(pattern: #"\b(TODO|FIXME|XXX)\b"#, instead: "an entry in the changelog's known gaps", allowed: []),
    Ban(
      pattern: #"\bprint\("#, instead: "the log, or the command's output",
      allowed: ["Sources/Command/", "Sources/Lab/", "Sources/SimulationTool/"]),
  ]

  /// The sources without comments at the ends of lines. Read once, because every ban searches all of them.
  private static let sources: [(path: String, code: String)] =
    Repository.current.files(under: "Sources", extensions: ["swift"]).map { file in
      let code = file.lines.map { line in
        line.firstRange(of: "//").map { line[..<$0.lowerBound] } ?? line
      }
      return (file.path, code.joined(separator: "\n"))
    }

  @Test(arguments: bans.indices)
  func `banned calls stay out of the sources`(index: Int) throws {
    let ban = Self.bans[index]
    let expression = try NSRegularExpression(pattern: ban.pattern)
    for (path, code) in Self.sources where !ban.allowed.contains(where: { path.hasPrefix($0) }) {
      let whole = NSRange(location: 0, length: code.utf16.count)
      guard let match = expression.firstMatch(in: code, range: whole) else { continue }
      let line = code.utf16.prefix(match.range.location).count { $0 == 0x0A } + 1
      Issue.record("\(path):\(line) uses \(ban.pattern); use \(ban.instead)")
    }
  }

  @Test func `no file takes in a second idea: 500 lines at most`() {
    for folder in ["Sources", "Tests", "Examples"] {
      for file in Repository.current.files(under: folder, extensions: ["swift"]) {
        #expect(file.lines.count <= 501, "\(file.path) has \(file.lines.count) lines")
      }
    }
  }

  @Test func `unchecked concurrency says beside it why it holds`() {
    let files = ["Sources", "Tests", "Examples"].flatMap { Repository.current.files(under: $0, extensions: ["swift"]) }
    for file in files where file.path != "Tests/House/RuleTests.swift" {
      let lines = file.lines
      for (number, line) in lines.enumerated()
      where line.contains("@unchecked Sendable") || line.contains("nonisolated(unsafe)") {
        if line.trimmingCharacters(in: .whitespaces).hasPrefix("//") { continue }
        let before = lines[max(0, number - 8)..<number]
        #expect(before.contains { $0.contains("//") }, "\(file.path):\(number + 1) does not say why it holds")
      }
    }
  }

  @Test func `paths named in documents exist`() throws {
    let expression = try NSRegularExpression(
      pattern:
        #"\b((?:Sources|Tests|Examples|Benchmarks|Scripts|Conformance|Fuzz|docs)/[A-Za-z0-9_./+-]*[A-Za-z0-9_-])"#
    )
    var documents = Repository.current.files(under: "docs", extensions: ["md"])
    for name in ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"] where Repository.current.exists(name) {
      documents.append(Repository.File(path: name, text: try Repository.current.text(name)))
    }
    for file in documents {
      let range = NSRange(file.text.startIndex..., in: file.text)
      for match in expression.matches(in: file.text, range: range) {
        guard let part = Range(match.range(at: 1), in: file.text) else { continue }
        let path = String(file.text[part])
        #expect(Repository.current.exists(path), "\(file.path) names \(path), which does not exist")
      }
    }
  }

  @Test func `no file of the project names one machine's paths`() {
    let roots = ["/" + "work/", "/" + "root/", "/" + "home/"]
    for folder in ["Sources", "Tests", "docs", "Examples", "Scripts", "Benchmarks", "Conformance", "Fuzz"] {
      for file in Repository.current.files(under: folder, extensions: ["swift", "md", "sh", "py", "json"]) {
        for root in roots {
          #expect(!file.text.contains(root), "\(file.path) names \(root)")
        }
      }
    }
  }
}
