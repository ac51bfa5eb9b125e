public import Foundation
internal import MartletRuntime

extension GraphQLFile {
  /// A file on disk. It is read while it is sent, and not held in memory; it must not change before.
  ///
  /// - Parameters:
  ///   - fieldName: the variable whose value the file is.
  ///   - originalName: its name as the server sees it; nil is the file's own.
  ///   - mimeType: its media type.
  ///   - fileURL: where it is; a `file:` URL.
  /// - Throws: `unreadableFile`, naming it, when it cannot be read.
  public init(
    fieldName: String, originalName: String? = nil, mimeType: String = "application/octet-stream", fileURL: URL
  ) throws(GraphQLClientError) {
    self.init(
      fieldName: fieldName, originalName: originalName ?? fileURL.lastPathComponent, mimeType: mimeType,
      source: .file(try DiskFile(fileURL)))
  }
}

/// A file on disk whose length was looked at.
struct DiskFile: UploadFile {
  let url: URL
  let length: Int
  var name: String { Self.name(url) }

  init(_ url: URL) throws(GraphQLClientError) {
    self.url = url
    guard url.isFileURL else {
      throw GraphQLClientError(.unreadableFile, "\(Self.name(url)) is not a file on this machine")
    }
    do {
      length = try Self.length(url)
    } catch {
      throw GraphQLClientError(.unreadableFile, "\(Self.name(url)) cannot be read", underlying: error)
    }
  }

  private static func name(_ url: URL) -> String { url.isFileURL ? url.path : url.absoluteString }

  private static func length(_ url: URL) throws -> Int {
    let handle = try FileHandle(forReadingFrom: url)
    defer { try? handle.close() }
    // Directories open as well, and have no bytes.
    guard try url.resourceValues(forKeys: [.isRegularFileKey]).isRegularFile == true,
      let length = Int(exactly: try handle.seekToEnd())
    else { throw CocoaError(.fileReadUnknown) }
    return length
  }

  func open() throws -> any UploadFileReader {
    Reader(handle: Lock(try FileHandle(forReadingFrom: url)))
  }

  private final class Reader: UploadFileReader {
    let handle: Lock<FileHandle>

    init(handle: Lock<FileHandle>) {
      self.handle = handle
    }

    deinit {
      handle.withLock { try? $0.close() }
    }

    func read(_ count: Int) throws -> [UInt8] {
      try handle.withLock { Array(try $0.read(upToCount: count) ?? Data()) }
    }
  }
}
