import MartletServer
import Synchronization

/// Keeps what a server logs.
final class LogKeeper: Sendable {
  private let messages = Mutex<[String]>([])

  var log: Log { Log { [self] entry in messages.withLock { $0.append(entry.message) } } }

  func count(_ message: String) -> Int { messages.withLock { $0.filter { $0 == message }.count } }
}
