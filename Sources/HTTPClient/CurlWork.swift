internal import CMartletCurl
internal import MartletRuntime

/// Something that a driver has libcurl do, with a handle of its own: an exchange, or a stream. Confined to its loop.
protocol CurlWork: AnyObject {
  var handle: EasyHandle { get }
  /// What is to be done with the handle when the turn ends.
  var wish: CurlWish { get set }
  /// libcurl has done what was asked, with this result.
  func isDone(_ code: CURLcode) -> CurlEnd
  /// It is over and the handle is gone; not called when that was wished.
  func end(_ error: HTTPExchangeError?)
}

/// What is to be done with a handle when the turn ends.
enum CurlWish {
  case none
  case start
  case resume
  case cancel
  case fail(HTTPExchangeError)
}

/// What libcurl's being done means.
enum CurlEnd {
  case completed
  case failed(HTTPExchangeError)
  /// The connection is open and the handle stays with it, until it is cancelled.
  case staysOpen
}

/// One driver for each loop, shut down with the last reference to this.
final class CurlDrivers: Sendable {
  private let limits: CurlDriver.Limits
  private let drivers = Lock<[ObjectIdentifier: LoopBound<CurlDriver>]>([:])

  init(_ limits: CurlDriver.Limits) {
    self.limits = limits
  }

  deinit {
    // What still runs is given up, on the loops it runs on.
    for driver in drivers.withLock({ Array($0.values) }) {
      driver.loop.execute { driver.value.shutDown() }
    }
  }

  /// The loop's driver; on that loop.
  func driver(for loop: any Loop) -> CurlDriver {
    guard let loop = loop as? any DescriptorLoop else {
      preconditionFailure("libcurl needs a loop that watches descriptors")
    }
    precondition(loop.isCurrent, "libcurl is used on the loop it works for")
    let key = ObjectIdentifier(loop)
    if let known = drivers.withLock({ $0[key] }) { return known.value }
    let made = LoopBound(CurlDriver(loop, limits: limits), on: loop)
    drivers.withLock { $0[key] = made }
    return made.value
  }
}
