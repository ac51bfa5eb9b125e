import MartletServer

/// Lets applications follow nodes of the tree and subscriptions by push while they are not running.
enum PushToPhones {
  /// `account` is the text of a Google service account's file, `key` that of a key for APNs (`.p8`).
  static func configure(_ configuration: inout ServerConfiguration, account: String, key: String) {
    var channels = configuration.channels ?? ChannelConfiguration()
    channels.fcm = FCMService(serviceAccount: account)
    channels.apns = APNsService(key: key, keyID: "ABC123DEFG", teamID: "DEF123GHIJ", topic: "example.shop")
    configuration.channels = channels
  }
}
