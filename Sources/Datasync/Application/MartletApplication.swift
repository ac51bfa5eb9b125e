internal import Martlet
internal import MartletRuntime

/// An application's access to its server's synced tree.
///
/// ```swift
/// let application = MartletApplication(configuration: DatasyncConfiguration(url: "ws://localhost:8080"))
/// let manager = application.datasyncService.createManager()
/// let contacts = manager / "contacts"
/// ```
public final class MartletApplication: Sendable {
  /// The tree; one for each application.
  public let datasyncService: DatasyncService

  /// An application of a server. Nothing is sent before something is read, written or listened to. A configuration that
  /// cannot be used shows in everything that is asked of the service, as `notConfigured`.
  public convenience init(configuration: DatasyncConfiguration) {
    self.init(configuration: configuration, environment: nil)
  }

  package init(configuration: DatasyncConfiguration, environment: ClientEnvironment?) {
    datasyncService = DatasyncService.make(configuration, environment)
  }

  private init(missing message: String) {
    datasyncService = DatasyncService(failure: DatasyncError(.notConfigured, message))
  }

  static let missing = MartletApplication(missing: "Martlet.configure(datasync:) has not been called")
}

extension Martlet {
  private static let application = Lock<MartletApplication?>(nil)
  /// The application of the task, where one was set around it.
  @TaskLocal private static var scoped: MartletApplication?

  /// The application that `configure(datasync:)` made. Before that it is one without a server, whose reads, writes and
  /// subscriptions fail with `notConfigured`.
  public static var defaultApplication: MartletApplication {
    scoped ?? application.withLock { $0 } ?? .missing
  }

  /// Makes the default application.
  /// - Throws: `alreadyConfigured` at the second call.
  public static func configure(datasync configuration: DatasyncConfiguration) throws(DatasyncError) {
    let made = MartletApplication(configuration: configuration)
    let isFirst = application.withLock { held in
      if held != nil { return false }
      held = made
      return true
    }
    guard isFirst else {
      throw DatasyncError(.alreadyConfigured, "Martlet.configure(datasync:) was called a second time")
    }
  }

  /// Runs `body` with another default application, which also the tasks that `body` starts as its children see.
  public static func withApplication<Answer>(
    _ application: MartletApplication, _ body: () async throws -> Answer
  ) async rethrows -> Answer {
    try await $scoped.withValue(application, operation: body)
  }
}
