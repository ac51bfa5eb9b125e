/// What a system reports of an application and of its network, as two closures, so that a test can take its place.
///
/// Each closure is called with a function that receives the reports, and returns a function that ends them.
package struct ApplicationSurroundings: Sendable {
  /// Whether the application is used, or may be suspended soon.
  package enum Life: Sendable, Hashable { case foreground, background }

  /// The way to the network.
  package struct Path: Sendable, Hashable {
    package var isUsable: Bool
    /// What it goes over, such as `wifi`; another name is another path.
    package var interface: String

    package init(isUsable: Bool, interface: String) {
      self.isUsable = isUsable
      self.interface = interface
    }
  }

  package typealias End = @Sendable () -> Void

  package var life: @Sendable (_ report: @escaping @Sendable (Life) -> Void) -> End
  package var path: @Sendable (_ report: @escaping @Sendable (Path) -> Void) -> End

  package init(
    life: @escaping @Sendable (_ report: @escaping @Sendable (Life) -> Void) -> End,
    path: @escaping @Sendable (_ report: @escaping @Sendable (Path) -> Void) -> End
  ) {
    self.life = life
    self.path = path
  }

  /// Of a system that reports nothing.
  package static let none = ApplicationSurroundings(life: { _ in {} }, path: { _ in {} })
}

/// Decides what a client does about the application's life and the network's paths.
package struct ApplicationLife: Sendable {
  package enum Action: Sendable, Hashable {
    case pause, resume
    /// An attempt that waits for its back-off starts now.
    case hasten
    case none
  }

  private var life = ApplicationSurroundings.Life.foreground
  private var path: ApplicationSurroundings.Path?

  package init() {}

  package mutating func received(_ life: ApplicationSurroundings.Life) -> Action {
    guard life != self.life else { return .none }
    self.life = life
    return life == .background ? .pause : .resume
  }

  /// The first report says how things are; only a change makes an attempt more likely to succeed than the last one.
  package mutating func received(_ path: ApplicationSurroundings.Path) -> Action {
    let before = self.path
    self.path = path
    guard let before, before != path, path.isUsable, life == .foreground else { return .none }
    return .hasten
  }
}

/// Follows a system's reports until it is ended or dropped.
package final class ApplicationFollower: Sendable {
  private let ends: [ApplicationSurroundings.End]

  /// - Parameter perform: called with each action that is due, by the system's thread.
  package init(
    _ surroundings: ApplicationSurroundings, perform: @escaping @Sendable (ApplicationLife.Action) -> Void
  ) {
    let machine = Lock(ApplicationLife())
    ends = [
      surroundings.life { life in perform(machine.withLock { $0.received(life) }) },
      surroundings.path { path in perform(machine.withLock { $0.received(path) }) },
    ]
  }

  deinit {
    for end in ends { end() }
  }
}
