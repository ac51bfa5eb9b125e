import MartletGraphQLClientWire
import MartletVocabulary

extension SubscriptionPosition {
  /// The position of a subscription that has not been sent yet.
  init(_ start: SubscriptionStart) {
    switch start {
    case .now, .oldest: self.init()
    case .after(let cursor): self.init(cursor: cursor, delivered: cursor.offset)
    }
  }
}
