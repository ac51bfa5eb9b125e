internal import MartletHTTPClient

extension CurlClient.Options {
  /// For requests to webhooks and push services.
  init(channels settings: ChannelSettings) {
    self.init()
    security.authorityFile = settings.authorityFile
    // An empty name turns off what the environment names: such a proxy would decide in place of the judged address.
    security.proxy = settings.proxy ?? ""
  }
}
