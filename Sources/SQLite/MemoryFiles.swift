internal import CMartletVFS
internal import MartletRuntime

/// An imaginary disk in memory for databases: stores without a disk, simulations, power cuts and failing disks.
///
/// `@unchecked Sendable` holds because the C disk takes its own lock in every call.
@safe
package final class MemoryFiles: @unchecked Sendable {
  private static let created = Lock(0)

  /// The name SQLite knows the disk by.
  package let name: String
  private let disk: OpaquePointer

  /// A disk holding `contents`, file by path.
  package init(_ contents: [String: [UInt8]] = [:]) {
    let number = Self.created.withLock { count in
      count += 1
      return count
    }
    name = "martlet-memory-\(number)"
    guard let disk = unsafe martlet_files_create(name) else { preconditionFailure("no memory for a disk in memory") }
    unsafe self.disk = disk
    for (path, bytes) in contents { put(path, bytes) }
  }

  deinit {
    // Every database on it holds a reference, so none is open.
    unsafe martlet_files_destroy(disk)
  }

  // MARK: Contents

  /// Creates or replaces a file.
  package func put(_ path: String, _ bytes: [UInt8]) {
    let failed = unsafe bytes.withUnsafeBytes { unsafe martlet_files_put(disk, path, $0.baseAddress, $0.count) }
    precondition(failed == 0, "no memory for a file in memory")
  }

  /// The bytes of a file; nil when there is none.
  package func contents(of path: String) -> [UInt8]? {
    let size = unsafe martlet_files_size(disk, path)
    guard size >= 0 else { return nil }
    return unsafe [UInt8](unsafeUninitializedCapacity: Int(size)) { buffer, count in
      // The buffer has `size` bytes; the C side copies at most that many.
      unsafe count = martlet_files_copy(disk, path, buffer.baseAddress, Int(size))
    }
  }

  /// All files and their bytes.
  package var contents: [String: [UInt8]] {
    var all: [String: [UInt8]] = [:]
    for index in 0..<(unsafe martlet_files_count(disk)) {
      guard let path = unsafe martlet_files_path(disk, index) else { break }
      let name = unsafe String(cString: path)
      all[name] = contents(of: name)
    }
    return all
  }

  // MARK: Recording

  /// Whether what happens to the files is recorded.
  package func record(_ isRecording: Bool) {
    unsafe martlet_files_record(disk, isRecording ? 1 : 0)
  }

  /// How many events were recorded.
  package var eventCount: Int { unsafe martlet_files_event_count(disk) }

  /// What was recorded, in order.
  package var events: [FileEvent] {
    (0..<eventCount).map { index in
      let event = unsafe martlet_files_event(disk, index)
      let path = unsafe event.path.map { unsafe String(cString: $0) } ?? ""
      switch unsafe UInt32(truncatingIfNeeded: event.kind) {
      case MARTLET_FILE_WRITE.rawValue:
        let bytes = unsafe Array(UnsafeBufferPointer(start: event.bytes, count: event.count))
        return .write(path: path, offset: Int(unsafe event.offset), bytes: bytes)
      case MARTLET_FILE_TRUNCATE.rawValue:
        return .truncate(path: path, size: Int(unsafe event.offset))
      case MARTLET_FILE_DELETE.rawValue:
        return .delete(path: path)
      default:
        return .sync(path: path)
      }
    }
  }

  // MARK: Faults

  /// After `successes` more syncs every sync fails; nil heals the disk.
  package func failSync(afterSuccesses successes: Int?) {
    unsafe martlet_files_fail_sync(disk, Int64(successes ?? -1))
  }

  /// How many bytes all files together may have before the disk is full; nil takes the limit away.
  package func setCapacity(_ bytes: Int?) {
    unsafe martlet_files_set_capacity(disk, Int64(bytes ?? -1))
  }

  /// How many syncs were asked for so far.
  package var syncCount: Int { Int(unsafe martlet_files_sync_count(disk)) }

  /// Bytes of all files together.
  package var totalBytes: Int { contents.values.reduce(0) { $0 + $1.count } }
}
