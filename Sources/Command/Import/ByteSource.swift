import Foundation
import MartletCommandLine

/// A file's bytes in stretches, so that a file of any size is read with the same memory.
final class ByteSource {
  private static let stretch = 1 << 18

  /// Bytes of the whole; nil for a pipe.
  let size: Int?
  private let read: () throws -> [UInt8]
  private var buffer: [UInt8] = []
  private var position = 0
  /// Bytes that have been taken.
  private(set) var taken = 0

  init(_ bytes: [UInt8]) {
    size = bytes.count
    read = { [] }
    buffer = bytes
  }

  /// A file, or standard input for `-`.
  init(path: String) throws(CommandFailure) {
    let handle: FileHandle
    if path == "-" {
      handle = .standardInput
      size = nil
    } else {
      size = try NamedFile.size(path)
      guard let opened = FileHandle(forReadingAtPath: path) else {
        throw CommandFailure(.io, "\(path) cannot be read.")
      }
      handle = opened
    }
    read = {
      do {
        return Array(try handle.read(upToCount: Self.stretch) ?? Data())
      } catch {
        throw CommandFailure(.io, "\(path) cannot be read: \(error.localizedDescription).")
      }
    }
  }

  /// The next byte without taking it; nil at the end.
  func peek() throws(CommandFailure) -> UInt8? {
    if position < buffer.count { return buffer[position] }
    do {
      buffer = try read()
    } catch {
      throw (error as? CommandFailure) ?? CommandFailure(.io, "\(error)")
    }
    position = 0
    return buffer.first
  }

  /// Takes the next byte; nil at the end.
  func next() throws(CommandFailure) -> UInt8? {
    guard let byte = try peek() else { return nil }
    position += 1
    taken += 1
    return byte
  }
}
