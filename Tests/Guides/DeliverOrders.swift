import MartletServer

/// Has new orders of the tree, and changed records, posted to a shop's server.
enum DeliverOrders {
  /// `secret` is what both ends know, such as `whsec_` and 32 random bytes in base64.
  static func configure(_ configuration: inout ServerConfiguration, secret: String) {
    var channels = ChannelConfiguration()
    channels.webhooks = [Webhook("shop", url: "https://shop.example/hook", secret: secret)]
    channels.subscriptions = [
      ["id": "orders", "webhook": "shop", "node": "/orders", "events": ["childAddition"], "context": "new"],
      ["id": "todos", "webhook": "shop", "query": "subscription { onUpdateTodo { id text } }"],
    ]
    configuration.channels = channels
  }
}
