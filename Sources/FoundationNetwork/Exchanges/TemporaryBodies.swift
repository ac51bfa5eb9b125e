internal import Foundation
package import MartletGraphQLClient

/// Writes bodies with files to the system's temporary folder, a stretch at a time.
package struct TemporaryBodies: BodyStaging {
  /// Bytes read and written at a time.
  private static let stretch = 65_536

  package init() {}

  package func stage(_ body: RequestBody) throws -> any StagedBody {
    let url = FileManager.default.temporaryDirectory.appendingPathComponent("martlet-\(UUID().uuidString).body")
    // No other user may read what is uploaded.
    guard FileManager.default.createFile(atPath: url.path, contents: nil, attributes: [.posixPermissions: 0o600])
    else { throw CocoaError(.fileWriteUnknown) }
    do {
      let file = try FileHandle(forWritingTo: url)
      defer { try? file.close() }
      for piece in body.pieces {
        switch piece {
        case .bytes(let bytes): try file.write(contentsOf: Data(bytes))
        case .file(let source): try Self.copy(source, to: file)
        }
      }
    } catch {
      try? FileManager.default.removeItem(at: url)
      throw error
    }
    return TemporaryBody(path: url.path)
  }

  private static func copy(_ source: any UploadFile, to file: FileHandle) throws {
    let reader = try source.open()
    var left = source.length
    while left > 0 {
      let bytes = try reader.read(min(left, stretch))
      guard !bytes.isEmpty else { throw ShortFile(name: source.name) }
      left -= bytes.count
      try file.write(contentsOf: Data(bytes))
    }
  }

  private struct ShortFile: Error, CustomStringConvertible {
    var name: String
    var description: String { "\(name): it is shorter than it was when the request began" }
  }
}

private struct TemporaryBody: StagedBody {
  let path: String
  func remove() { try? FileManager.default.removeItem(atPath: path) }
}
