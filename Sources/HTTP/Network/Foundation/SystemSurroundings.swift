internal import Foundation
internal import MartletRuntime

#if canImport(Network)
  internal import Network
#endif

extension ApplicationSurroundings {
  /// The notifications that UIKit and WatchKit post, by their names, so that neither has to be imported, and the paths
  /// of the Network framework where it exists. A Mac's applications stay connected in the background.
  static let system = ApplicationSurroundings(
    life: { report in
      let names: [(String, Life)] = [
        ("UIApplicationDidEnterBackgroundNotification", .background),
        ("UIApplicationWillEnterForegroundNotification", .foreground),
        ("WKApplicationDidEnterBackgroundNotification", .background),
        ("WKApplicationWillEnterForegroundNotification", .foreground),
      ]
      let tokens = Tokens(
        names.map { name, life in
          NotificationCenter.default.addObserver(forName: Notification.Name(name), object: nil, queue: nil) { _ in
            report(life)
          }
        })
      return { tokens.remove() }
    },
    path: { report in
      #if canImport(Network)
        let monitor = NWPathMonitor()
        monitor.pathUpdateHandler = { path in
          let kinds = path.availableInterfaces.map { "\($0.name)" }.joined(separator: ",")
          report(Path(isUsable: path.status == .satisfied, interface: kinds))
        }
        monitor.start(queue: DispatchQueue(label: "martlet-path"))
        return { monitor.cancel() }
      #else
        return {}
      #endif
    })

  /// Observers of notifications. `@unchecked Sendable` holds because they are only handed back to the center, which
  /// takes them from any thread.
  private final class Tokens: @unchecked Sendable {
    private let tokens: [any NSObjectProtocol]

    init(_ tokens: [any NSObjectProtocol]) {
      self.tokens = tokens
    }

    func remove() {
      for token in tokens { NotificationCenter.default.removeObserver(token) }
    }
  }
}
