/// The listening sockets that a service manager has started the process with (systemd's socket activation).
struct ActivatedSockets: Equatable {
  /// The socket for clients.
  var clients: Int32?
  /// The socket for health and figures: the one that the manager names `admin`.
  var administration: Int32?

  struct Refusal: Error, CustomStringConvertible { var description: String }

  /// The first descriptor, by the manager's convention.
  private static let first: Int32 = 3
  /// More than a service has; a number beyond it is a mistake.
  private static let most: Int32 = 64

  /// Reads the manager's variables. Those that were meant for another process are ignored.
  ///
  /// - Parameter process: this process's number.
  /// - Throws: `Refusal` for a number that cannot be read, and for several sockets for the same purpose.
  init(_ environment: [String: String], process: Int32) throws(Refusal) {
    guard environment["LISTEN_PID"] == "\(process)", let text = environment["LISTEN_FDS"] else { return }
    guard let count = Int32(text), (0...Self.most).contains(count) else {
      throw Refusal(description: "LISTEN_FDS is not a number of sockets: \(text)")
    }
    let names = (environment["LISTEN_FDNAMES"] ?? "").split(separator: ":", omittingEmptySubsequences: false)
    for index in 0..<count {
      let descriptor = Self.first + index
      if Int(index) < names.count, names[Int(index)] == "admin" {
        guard administration == nil else { throw Self.surplus("health and figures") }
        administration = descriptor
      } else {
        guard clients == nil else { throw Self.surplus("clients") }
        clients = descriptor
      }
    }
  }

  private static func surplus(_ purpose: String) -> Refusal {
    Refusal(
      description: "the service manager hands over several sockets for \(purpose); one is taken, and one more that is "
        + "named admin (FileDescriptorName=admin)")
  }
}
