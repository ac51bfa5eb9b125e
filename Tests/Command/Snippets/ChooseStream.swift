import Martlet

/// The Swift of the guides to subscriptions over HTTP.
enum ChooseStream {
  static func multipart(_ configuration: inout ConnectionConfiguration) {
    configuration.subscriptionTransport = .http
    configuration.subscriptionMediaType = .multipart
  }

  static func events(_ configuration: inout ConnectionConfiguration) {
    configuration.subscriptionTransport = .http
    configuration.subscriptionMediaType = .eventStream
  }

  static func shared(_ configuration: inout ConnectionConfiguration) {
    configuration.subscriptionMediaType = .eventStream(.singleConnection)
  }

  static func resuming(_ configuration: inout ConnectionConfiguration) {
    configuration.resumesHTTPSubscriptions = true
  }
}
