internal import Foundation
internal import MartletRuntime

/// The descriptors 0, 1 and 2 as the command was given them.
package enum StandardStreams {
  /// Opens those that were closed, on the null device: the next file or socket would get their number, and with it what
  /// is written to standard error. From then on a write that fails is an error of the write, never the end of the
  /// process.
  package static func prepare() {
    for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) == -1 {
      // Takes the lowest number that is free, which is this one.
      _ = unsafe open("/dev/null", descriptor == STDIN_FILENO ? O_RDONLY : O_WRONLY)
    }
    WriteSignals.ignoreInProcess()
  }

  /// Ends the process. What libraries clean up at an exit is left to the system: the thread of a loop may be inside one
  /// of them. OpenSSL frees its locks there, and a handshake in progress then ends the process by a signal.
  package static func end(with code: ExitCode) -> Never {
    fflush(nil)
    _exit(code.rawValue)
  }
}
