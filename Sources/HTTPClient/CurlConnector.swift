internal import CMartletCurl
package import MartletRuntime
internal import MartletVocabulary

/// Opens streams of bytes by libcurl: names, proxies and TLS are its part, what is said over the stream its user's
/// (libcurl's `CONNECT_ONLY`). So a program that speaks nothing but HTTP needs no sockets and no TLS of this package.
package final class CurlConnector: ByteConnector {
  package struct Options: Sendable {
    /// What is trusted, shown and passed through.
    package var security = CurlSecurity()
    /// Time for all of it: name, connection and handshake.
    package var connectTime = Duration.seconds(10)
    /// Idle seconds before the kernel probes a silent peer; nil leaves keep-alive off.
    package var keepAliveSeconds: Int? = 60
    /// Outgoing bytes of one stream that the peer has not taken; beyond it the stream is dropped. Its owners' own marks
    /// act long before.
    package var pendingBytes = 16 << 20
    /// How long a closing stream waits for the peer to take any of what is pending.
    package var flushTime = Duration.seconds(10)

    package init() {}
  }

  private let options: Options
  private let drivers: CurlDrivers

  package init(options: Options = Options()) {
    self.options = options
    // The connection pool bounds their number; libcurl must neither hold one back nor make room by closing one.
    drivers = CurlDrivers(CurlDriver.Limits(idleConnections: 1_000_000, connectionsPerHost: 0))
  }

  package func connect(
    to endpoint: ConnectionTarget, on loop: any Loop, handler: any ByteChannelHandler,
    completion: @escaping (Result<any ByteChannel, ConnectError>) -> Void
  ) -> ConnectAttempt {
    let driver = drivers.driver(for: loop)
    let line = CurlLine(endpoint, options, drivers, driver, handler: handler, completion: completion)
    driver.add(line)
    return ConnectAttempt { line.cancel() }
  }
}

/// One stream: libcurl opens it, then its bytes are the channel's. Confined to its loop.
final class CurlLine: CurlWork {
  let handle = EasyHandle()
  var wish = CurlWish.start
  let driver: CurlDriver
  let options: CurlConnector.Options
  /// A stream outlives the connector that opened it.
  private let drivers: CurlDrivers
  private let name: String
  private var handler: (any ByteChannelHandler)?
  private var completion: ((Result<any ByteChannel, ConnectError>) -> Void)?

  init(
    _ endpoint: ConnectionTarget, _ options: CurlConnector.Options, _ drivers: CurlDrivers, _ driver: CurlDriver,
    handler: any ByteChannelHandler, completion: @escaping (Result<any ByteChannel, ConnectError>) -> Void
  ) {
    self.options = options
    self.drivers = drivers
    self.driver = driver
    self.handler = handler
    self.completion = completion
    let host = endpoint.host.utf8.contains(UInt8(ascii: ":")) ? "[\(endpoint.host)]" : endpoint.host
    name = "\(host):\(endpoint.port)"
    let url = "\(endpoint.isSecure ? "https" : "http")://\(name)/"
    if let error = HTTPRequestCheck.error(in: HTTPExchangeRequest(url: url)) {
      wish = .fail(error)
    } else {
      configure(url)
    }
  }

  private func configure(_ url: String) {
    handle.setUp(options.security)
    handle.set(CURLOPT_URL, url)
    handle.set(CURLOPT_CONNECT_ONLY, 1)
    // What is spoken over the stream; TLS says so too.
    handle.set(CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1)
    // Through a proxy the stream still has to reach the server itself.
    handle.set(CURLOPT_HTTPPROXYTUNNEL, 1)
    handle.set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
    handle.set(CURLOPT_CONNECTTIMEOUT_MS, options.connectTime)
    if let seconds = options.keepAliveSeconds {
      handle.set(CURLOPT_TCP_KEEPALIVE, 1)
      handle.set(CURLOPT_TCP_KEEPIDLE, seconds)
      handle.set(CURLOPT_TCP_KEEPINTVL, seconds)
    }
    // What a proxy says against the tunnel; libcurl would print it.
    _ = unsafe martlet_curl_set_data(handle.pointer, CURLOPT_WRITEFUNCTION, { _, _, count, _ in count })
  }

  func cancel() {
    completion = nil
    handler = nil
    wish = .cancel
    driver.change(self)
  }

  /// Gives the stream up at the end of the turn: libcurl closes it.
  func close() {
    wish = .cancel
    driver.change(self)
  }

  func isDone(_ code: CURLcode) -> CurlEnd {
    if let error = handle.error(code, name) { return .failed(error) }
    guard let handler, let completion else { return .failed(HTTPExchangeError(.other, "the stream was cancelled")) }
    self.handler = nil
    self.completion = nil
    guard let channel = CurlChannel(self, handler: handler) else {
      completion(.failure(ConnectError(.other, "no descriptors to wait with")))
      return .completed
    }
    completion(.success(channel))
    return .staysOpen
  }

  func end(_ error: HTTPExchangeError?) {
    let told = completion
    completion = nil
    handler = nil
    guard let error else { return }
    told?(.failure(Self.connectError(error)))
  }

  private static func connectError(_ error: HTTPExchangeError) -> ConnectError {
    let code: ConnectError.Code
    switch error.code {
    case .resolution: code = .resolution
    case .connect: code = .unreachable
    case .tls: code = .tls
    case .timeout: code = .timeout
    case .invalidRequest, .bodyTooLarge, .overflow, .response, .other: code = .other
    }
    return ConnectError(code, error.message)
  }
}
