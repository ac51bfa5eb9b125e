internal import CMartletSystem
import Foundation

/// The service manager that started the process, if it wants to know how the service is (systemd's `Type=notify`).
enum ServiceManager {
  enum State: String {
    /// Requests are accepted; also after a reload.
    case ready = "READY=1"
    case reloading = "RELOADING=1"
    case stopping = "STOPPING=1"
  }

  /// Reports a state. Does nothing without a service manager, and when it does not take the message: the server serves
  /// either way.
  static func report(_ state: State, _ status: String) {
    guard let path = ProcessInfo.processInfo.environment["NOTIFY_SOCKET"] else { return }
    let line = status.split(separator: "\n").first ?? ""
    _ = unsafe martlet_send_datagram(path, "\(state.rawValue)\nSTATUS=\(line)\n")
  }
}
