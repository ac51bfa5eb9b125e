import MartletServer
import Synchronization

/// Keeps what a server logs.
final class LogRecorder: Sendable {
  /// What every broken rule is logged as.
  static let violation = "A client broke a rule of its protocol."

  private let kept = Mutex<[Log.Entry]>([])

  var log: Log {
    Log(direct: { entry in self.kept.withLock { $0.append(entry) } })
  }

  var entries: [Log.Entry] { kept.withLock { $0 } }

  func count(of message: String) -> Int {
    kept.withLock { $0.count { $0.message == message } }
  }
}
