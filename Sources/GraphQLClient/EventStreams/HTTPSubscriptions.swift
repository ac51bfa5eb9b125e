package import MartletRuntime

/// The subscriptions of one transport by HTTP, each with a response of its own or all with one. Confined to its loop.
package final class HTTPSubscriptions {
  private let endpoint: GraphQLEndpoint
  private let configuration: ConnectionConfiguration
  private let environment: ClientEnvironment
  private let http: any HTTPExchanging
  private var running: [Int: HTTPSubscription] = [:]
  private let events: ConnectionEvents
  private lazy var shared = EventStreamDriver(endpoint, configuration, environment, http, events)
  private var isShutDown = false

  package init(
    _ endpoint: GraphQLEndpoint, _ configuration: ConnectionConfiguration, _ environment: ClientEnvironment,
    _ http: any HTTPExchanging, _ events: ConnectionEvents
  ) {
    self.endpoint = endpoint
    self.configuration = configuration
    self.environment = environment
    self.http = http
    self.events = events
  }

  private var sharesOneStream: Bool { configuration.subscriptionMediaType == .sharedEventStream }

  /// Starts a subscription under a number of its own.
  package func start(_ number: Int, _ request: OperationRequest, _ feed: SubscriptionFeed) {
    guard !isShutDown else { return feed.core.move(to: .finished(.cancelled)) }
    guard !feed.isFinished else { return }
    if sharesOneStream { return shared.start(number, request, feed) }
    let subscription = HTTPSubscription(request, feed, endpoint, configuration, environment, http, events) {
      [weak self] in
      self?.running[number] = nil
    }
    running[number] = subscription
    subscription.start()
  }

  /// The consumer left.
  package func cancel(_ number: Int) {
    if sharesOneStream { return shared.cancel(number) }
    running[number]?.cancel()
  }

  /// A consumer that was too slow has room again.
  package func goOn(_ number: Int) {
    if sharesOneStream { return shared.goOn(number) }
    running[number]?.goOn()
  }

  /// Ends all of them, and those to come. Their owner has left, so that they count as cancelled.
  package func shutDown() {
    isShutDown = true
    if sharesOneStream { shared.shutDown() }
    for number in running.keys.sorted() { running[number]?.shutDown() }
    events.finish()
  }
}
