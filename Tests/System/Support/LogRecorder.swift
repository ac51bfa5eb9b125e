import MartletServer
import Synchronization

/// Counts the entries of a log.
final class LogRecorder: Sendable {
  private let messages = Mutex<[String]>([])

  var log: Log {
    Log(level: .debug) { entry in self.messages.withLock { $0.append(entry.message) } }
  }

  func count(of message: String) -> Int {
    messages.withLock { $0.count { $0 == message } }
  }
}
