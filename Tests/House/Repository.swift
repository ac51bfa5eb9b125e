import Foundation
import Synchronization

/// The checkout under test: its files, read once.
struct Repository {
  let root: URL

  static let current = Repository(
    root: URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent())

  struct File {
    /// Path from the root, with forward slashes.
    let path: String
    let text: String
    let lines: [Substring]

    init(path: String, text: String) {
      self.path = path
      self.text = text
      // By bytes, which is many times quicker than by characters: dozens of rules read every line of the project.
      lines = text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map { Substring($0) }
    }
  }

  private struct Part: Hashable {
    var root: URL
    var folder: String
    var extensions: Set<String>
  }
  private static let read = Mutex<[Part: [File]]>([:])

  /// Every text file with one of `extensions` under `folder`, in path order, as it was when it was first asked for.
  func files(under folder: String, extensions: Set<String>) -> [File] {
    Self.read.withLock { read in
      let part = Part(root: root, folder: folder, extensions: extensions)
      if let files = read[part] { return files }
      let files = walk(folder, extensions)
      read[part] = files
      return files
    }
  }

  private func walk(_ folder: String, _ extensions: Set<String>) -> [File] {
    let base = root.appendingPathComponent(folder)
    guard let walker = FileManager.default.enumerator(at: base, includingPropertiesForKeys: nil) else { return [] }
    var found: [File] = []
    for case let url as URL in walker where extensions.contains(url.pathExtension) {
      let path = String(url.standardizedFileURL.path.dropFirst(root.standardizedFileURL.path.count + 1))
      guard !path.hasPrefix(".build/"), !path.contains("/.build/"),
        let text = try? String(contentsOf: url, encoding: .utf8)
      else { continue }
      found.append(File(path: path, text: text))
    }
    return found.sorted { $0.path < $1.path }
  }

  func exists(_ path: String) -> Bool {
    FileManager.default.fileExists(atPath: root.appendingPathComponent(path).path)
  }

  func text(_ path: String) throws -> String {
    try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
  }

  /// Names of tests under Tests, from their declarations, sorted.
  func testNames() throws -> [String] {
    let expression = try NSRegularExpression(pattern: "func `([^`]+)`")
    var names: Set<String> = []
    for file in files(under: "Tests", extensions: ["swift"]) {
      let range = NSRange(file.text.startIndex..., in: file.text)
      for match in expression.matches(in: file.text, range: range) {
        if let name = Range(match.range(at: 1), in: file.text) { names.insert(String(file.text[name])) }
      }
    }
    return names.sorted()
  }
}
