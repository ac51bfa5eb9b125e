internal import MartletRuntime

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

/// The right to run the sync engine of a store: one process has it, and another takes it over when that one ends,
/// however it ends. Reading and writing the store needs no right.
package final class EngineLock: Sendable {
  private let path: String
  private struct State {
    var descriptor: Int32 = -1
    var isClosed = false
  }

  private let state = Lock(State())

  /// The lock of the store at `path`.
  package init(path: String) { self.path = path + "-engine" }

  deinit {
    release()
  }

  /// Whether this process has it.
  package var isHeld: Bool { state.withLock { $0.descriptor >= 0 } }

  /// Takes the lock if no process has it. Returns whether this one has it now.
  package func take() throws(StoreError) -> Bool {
    if isHeld { return true }
    let file = try openFile()
    guard flock(file, LOCK_EX | LOCK_NB) == 0 else {
      close(file)
      return false
    }
    return keep(file)
  }

  /// Waits for the lock on a thread of its own, and calls `onTaken` once it is this process's. Nothing is called after
  /// `release`.
  package func wait(onTaken: @escaping @Sendable () -> Void) throws(StoreError) {
    let file = try openFile()
    let thread = StoreThread()
    thread.execute { [weak self] in
      var result: Int32 = -1
      repeat { result = flock(file, LOCK_EX) } while result != 0 && errno == EINTR
      guard let self, result == 0 else {
        close(file)
        return
      }
      if keep(file) { onTaken() }
    }
    thread.end()
  }

  /// Keeps the locked file, unless the lock was given up meanwhile.
  private func keep(_ file: Int32) -> Bool {
    let isKept = state.withLock { state in
      if !state.isClosed { state.descriptor = file }
      return !state.isClosed
    }
    if !isKept { close(file) }
    return isKept
  }

  /// Gives the lock up for good.
  package func release() {
    let file = state.withLock { state in
      state.isClosed = true
      defer { state.descriptor = -1 }
      return state.descriptor
    }
    if file >= 0 { close(file) }
  }

  private func openFile() throws(StoreError) -> Int32 {
    let file = unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard file >= 0 else { throw StoreError(.failed, "\(path) cannot be opened: error \(errno)") }
    return file
  }
}
