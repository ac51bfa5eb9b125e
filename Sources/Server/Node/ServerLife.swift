/// A server serves once: its store is closed with it.
enum ServerLife {
  case made, started, stopped

  /// Why a server in this state cannot be started; nil when it can.
  var refusal: ServerError? {
    switch self {
    case .made: nil
    case .started: ServerError(.notStartable, "The server has been started already.")
    case .stopped: ServerError(.notStartable, "The server has been stopped; make another one.")
    }
  }
}
