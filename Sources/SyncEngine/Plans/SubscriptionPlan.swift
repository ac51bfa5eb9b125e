/// How the subscriptions of an AppSync endpoint, three for each model, are dealt out over connections.
///
/// Services allow a number of subscriptions per connection (100), which is 33 models. Beyond it another connection is
/// opened. Our own server needs one subscription for all models.
package struct SubscriptionPlan: Sendable, Hashable {
  package enum Kind: String, Sendable, Hashable, CaseIterable { case onCreate, onUpdate, onDelete }

  package struct Item: Sendable, Hashable {
    /// The model's position.
    package var model: Int
    package var kind: Kind

    package init(model: Int, kind: Kind) {
      self.model = model
      self.kind = kind
    }
  }

  /// By connection, what is subscribed there.
  package private(set) var connections: [[Item]] = []
  private var limit: Int

  /// The plan for `models` models with at most `perConnection` subscriptions on a connection.
  package init(models: Int, perConnection: Int = 100) {
    limit = max(1, perConnection)
    for model in 0..<models {
      for kind in Kind.allCases { place(Item(model: model, kind: kind)) }
    }
  }

  private mutating func place(_ item: Item) {
    if let last = connections.indices.last, connections[last].count < limit {
      connections[last].append(item)
    } else {
      connections.append([item])
    }
  }

  /// The server refused `item` because its connection has too many: it goes to another connection, and no connection
  /// gets more than the server has accepted on this one. Returns the connection that takes it.
  package mutating func refuse(_ item: Item) -> Int? {
    guard let connection = connections.firstIndex(where: { $0.contains(item) }) else { return nil }
    connections[connection].removeAll { $0 == item }
    limit = max(1, min(limit, connections[connection].count))
    let other = connections.indices.first { $0 != connection && connections[$0].count < limit }
    if let other { connections[other].append(item) } else { connections.append([item]) }
    return other ?? connections.count - 1
  }
}
