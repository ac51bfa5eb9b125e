internal import MartletRuntime

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

/// Wakes processes that have one store open when there is something to read: a named pipe for each, in a folder beside
/// the store's file. What is in a pipe has no meaning; a full one has been rung.
package final class ClientBell: Sendable {
  private let folder: String
  package let id: String
  private let descriptor: Int32
  private let thread = StoreThread()
  private let isClosed = Lock(false)

  /// Makes this process's pipe.
  ///
  /// - Parameter onRing: called on a thread of the bell, once for any number of rings.
  /// - Throws: `failed` when the folder or the pipe cannot be made.
  package init(path: String, id: String, onRing: @escaping @Sendable () -> Void) throws(StoreError) {
    folder = path + "-processes"
    self.id = id
    _ = unsafe mkdir(folder, 0o700)
    let name = folder + "/" + id
    guard unsafe mkfifo(name, 0o600) == 0 else {
      throw StoreError(.failed, "the pipe \(name) cannot be made: error \(errno)")
    }
    // Open for both directions, so that reading waits when no other process has the pipe open.
    descriptor = unsafe open(name, O_RDWR | O_CLOEXEC)
    guard descriptor >= 0 else { throw StoreError(.failed, "the pipe \(name) cannot be opened: error \(errno)") }
    let (descriptor, isClosed) = (descriptor, isClosed)
    thread.execute {
      var bytes = [UInt8](repeating: 0, count: 512)
      while true {
        // The buffer has 512 bytes and outlives the call.
        let count = unsafe bytes.withUnsafeMutableBytes { unsafe read(descriptor, $0.baseAddress, 512) }
        if count < 0 && errno == EINTR { continue }
        if count <= 0 || isClosed.withLock({ $0 }) { break }
        onRing()
      }
      close(descriptor)
    }
  }

  deinit {
    isClosed.withLock { $0 = true }
    _ = unsafe unlink(folder + "/" + id)
    var byte: UInt8 = 0
    // Wakes the thread, which closes the pipe.
    _ = unsafe write(descriptor, &byte, 1)
    thread.end()
  }

  /// Rings another process's bell. False when it has none: it has ended.
  package func ring(_ other: String) -> Bool {
    let pipe = unsafe open(folder + "/" + other, O_WRONLY | O_NONBLOCK | O_CLOEXEC)
    guard pipe >= 0 else { return errno != ENXIO && errno != ENOENT }
    var byte: UInt8 = 1
    // A full pipe refuses: it has been rung and not looked at.
    _ = unsafe write(pipe, &byte, 1)
    close(pipe)
    return true
  }

  /// Removes what an ended process has left.
  package func forget(_ other: String) { _ = unsafe unlink(folder + "/" + other) }
}
