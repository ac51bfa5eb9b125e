internal import MartletGraphQLClientWire

/// How a client asks for answers in parts (`@defer`, `@stream`). What a server answers is read in either shape, and in
/// one piece.
public enum IncrementalDelivery: Sendable, Hashable, CaseIterable {
  /// In the current shape or that of 2022, as the server can.
  case both
  /// In the current shape: `incrementalSpec=v0.2`.
  case current
  /// In the shape of 2022: `deferSpec=20220824`.
  case of2022
  /// Not at all: the server then answers in one piece.
  case off

  var accept: String? {
    switch self {
    case .both: IncrementalAccept.both
    case .current: IncrementalAccept.currentOnly
    case .of2022: IncrementalAccept.olderOnly
    case .off: nil
    }
  }
}
