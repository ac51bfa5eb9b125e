internal import Foundation
internal import MartletRuntime

#if canImport(FoundationNetworking)
  internal import FoundationNetworking
#endif

extension HTTPExchangeError {
  /// What an error of the system's HTTP client means.
  init(system error: any Error) {
    guard let error = error as? URLError else {
      self.init(.other, "\(error)")
      return
    }
    let code: Code
    switch error.code {
    case .badURL, .unsupportedURL: code = .invalidRequest
    case .cannotFindHost, .dnsLookupFailed: code = .resolution
    case .cannotConnectToHost, .notConnectedToInternet, .internationalRoamingOff, .dataNotAllowed, .callIsActive:
      code = .connect
    case .secureConnectionFailed, .serverCertificateHasBadDate, .serverCertificateUntrusted,
      .serverCertificateHasUnknownRoot, .serverCertificateNotYetValid, .clientCertificateRejected,
      .clientCertificateRequired:
      code = .tls
    case .timedOut: code = .timeout
    case .networkConnectionLost, .badServerResponse, .cannotParseResponse, .cannotDecodeRawData,
      .cannotDecodeContentData, .zeroByteResource:
      code = .response
    default: code = .other
    }
    self.init(code, error.localizedDescription)
  }
}
