internal import CMartletCurl
package import MartletRuntime

/// Outgoing HTTP/1.1 and HTTP/2 by libcurl, driven by the caller's own loop: no threads, no polling.
///
/// Connections are kept and shared by all exchanges of one loop. Redirects are not followed: where a request goes is
/// the caller's decision.
package final class CurlClient: HTTPExchanging {
  package struct Options: Sendable {
    /// Authorities in a PEM file. Nil: the system's.
    package var authorityFile: String?
    /// Connections kept open when idle, per loop.
    package var idleConnections = 64
    /// Connections to one host at a time, per loop; further exchanges wait or share one by HTTP/2.
    package var connectionsPerHost = 16
    package var userAgent = "martlet"
    /// How long after the last piece of a response the sockets are looked at once more: short beside a time-out, long
    /// beside the pauses inside a response.
    package var lookInterval = Duration.milliseconds(20)

    package init() {}
  }

  private let options: Options
  private let drivers = Lock<[ObjectIdentifier: LoopBound<CurlDriver>]>([:])

  package init(options: Options = Options()) {
    self.options = options
  }

  deinit {
    // What still runs is given up, on the loops it runs on.
    for driver in drivers.withLock({ Array($0.values) }) {
      driver.loop.execute { driver.value.shutDown() }
    }
  }

  package func start(
    _ request: HTTPExchangeRequest, on loop: any Loop, handler: any HTTPExchangeHandler
  ) -> HTTPExchange {
    guard let loop = loop as? any DescriptorLoop else {
      preconditionFailure("libcurl needs a loop that watches descriptors")
    }
    precondition(loop.isCurrent, "exchanges are started on their loop")
    let driver = driver(for: loop)
    let transfer = CurlTransfer(request, options: options, driver: driver, handler: handler)
    driver.add(transfer)
    return HTTPExchange(cancelling: { transfer.cancel() }, pausing: { transfer.pause($0) })
  }

  private func driver(for loop: any DescriptorLoop) -> CurlDriver {
    let key = ObjectIdentifier(loop)
    if let known = drivers.withLock({ $0[key] }) { return known.value }
    let made = LoopBound(CurlDriver(loop, options: options), on: loop)
    drivers.withLock { $0[key] = made }
    return made.value
  }

  /// Initialises libcurl, once per process.
  static let isReady: Bool = martlet_curl_global_init() == CURLE_OK
}
