internal import Foundation

/// Access files as `martlet access key create` makes them.
package enum AccessFiles {
  /// A new file with one key, which the caller removes, and the key's text.
  package static func made(for name: String) async throws -> (path: String, key: String) {
    let path = FileManager.default.temporaryDirectory.appendingPathComponent("access-\(UUID().uuidString).json").path
    let said = await (try RunningProgram("martlet", ["access", "key", "create", name, "--file", path])).end()
    guard let key = said.output.split(whereSeparator: \.isWhitespace).first(where: { $0.hasPrefix("martlet_") }) else {
      throw Programs.Failure("martlet access printed no key: \(said.output) \(said.errors)")
    }
    return (path, String(key))
  }
}
