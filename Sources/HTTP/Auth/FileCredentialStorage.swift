public import Foundation
public import MartletGraphQLClient

/// Keeps credentials in a folder that only its owner can read, one file for each name: for systems without a keychain.
/// What is in the files is not encrypted.
public struct FileCredentialStorage: CredentialStorage {
  private let folder: URL

  /// - Parameter folder: Made when it is missing, for its owner alone.
  public init(folder: URL) {
    self.folder = folder
  }

  /// What was kept under a name.
  /// - Throws: when the file is there and cannot be read.
  public func read(_ name: String) async throws -> [UInt8]? {
    let file = file(of: name)
    guard FileManager.default.fileExists(atPath: file.path) else { return nil }
    return Array(try Data(contentsOf: file))
  }

  /// Keeps bytes under a name; another process sees all of them or what was there before.
  /// - Throws: when the file cannot be written.
  public func write(_ bytes: [UInt8]?, _ name: String) async throws {
    let file = file(of: name)
    guard let bytes else {
      if FileManager.default.fileExists(atPath: file.path) { try FileManager.default.removeItem(at: file) }
      return
    }
    try FileManager.default.createDirectory(
      at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    // Readable for the owner alone from the first byte on, which an atomic write by Foundation does not promise.
    let draft = folder.appendingPathComponent(".\(UUID().uuidString)")
    guard
      FileManager.default.createFile(
        atPath: draft.path, contents: Data(bytes), attributes: [.posixPermissions: 0o600])
    else { throw CocoaError(.fileWriteUnknown) }
    // Else a system that loses its power may keep the new name of a file without its bytes.
    let handle = try FileHandle(forWritingTo: draft)
    try handle.synchronize()
    try handle.close()
    // In place of what is there at once, which FileManager's own functions do not promise on every system.
    guard unsafe rename(draft.path, file.path) == 0 else {
      try? FileManager.default.removeItem(at: draft)
      throw CocoaError(.fileWriteUnknown)
    }
  }

  private func file(of name: String) -> URL { folder.appendingPathComponent(CredentialFile.name(of: name)) }
}
