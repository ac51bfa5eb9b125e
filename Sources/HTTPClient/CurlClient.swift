internal import CMartletCurl
package import MartletRuntime

/// Outgoing HTTP/1.1 and HTTP/2 by libcurl, driven by the caller's own loop: no threads, no polling.
///
/// Connections are kept and shared by all exchanges of one loop. Redirects are not followed: where a request goes is
/// the caller's decision.
package final class CurlClient: HTTPExchanging {
  package struct Options: Sendable {
    /// What is trusted, shown and passed through.
    package var security = CurlSecurity()
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
  private let drivers: CurlDrivers

  package init(options: Options = Options()) {
    self.options = options
    drivers = CurlDrivers(
      CurlDriver.Limits(
        idleConnections: options.idleConnections, connectionsPerHost: options.connectionsPerHost,
        lookInterval: options.lookInterval))
  }

  package func start(
    _ request: HTTPExchangeRequest, on loop: any Loop, handler: any HTTPExchangeHandler
  ) -> HTTPExchange {
    let driver = drivers.driver(for: loop)
    let transfer = CurlTransfer(request, options: options, driver: driver, handler: handler)
    driver.add(transfer)
    return HTTPExchange(cancelling: { transfer.cancel() }, pausing: { transfer.pause($0) })
  }

  /// Initialises libcurl, once per process.
  static let isReady: Bool = martlet_curl_global_init() == CURLE_OK
}
