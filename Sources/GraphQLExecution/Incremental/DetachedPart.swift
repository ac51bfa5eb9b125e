import MartletGraphQLLanguage
import MartletJSON

/// A part of the result tree that is executed and delivered apart from the rest: some fields of an object, or one item
/// of a list. Nulls travel no further than its edge, and its errors are its own.
final class DetachedPart {
  enum Content {
    /// Fields of an object, and the deferred fragments they are delivered with.
    case fields(SelectionPlan, [DeferredFragment])
    /// An item and the list it belongs to.
    case item(StreamedList, index: Int)
  }

  let content: Content
  /// The fields, or a list of the one item.
  let container: ResultContainer
  /// The value whose fields these are, or the item.
  let source: ResolvedValue
  /// The position of the object or list.
  let path: [GraphQLError.PathElement]
  /// The open positions down to the object, and the part they belong to: where outer deferred fragments are looked up.
  let origin: Origin?
  var isStarted = false
  var isFinished = false
  var isDelivered = false
  /// Whether null may not stand where it ended up.
  var isNull = false
  /// Positions that wait for a resolver.
  var waiting = 0
  /// Calls under way whose answers may add parents to batches.
  var calls = 0
  /// Parents of batches that wait for those calls.
  var held: [HeldParent] = []
  var errors: [ResponseError] = []
  var found: [Discovery] = []
  /// For an item: what is announced when it has been delivered.
  var children: [DeliveryNode] = []

  /// A parent whose batch is not called yet.
  struct HeldParent {
    var field: FieldPlan
    var source: ResolvedValue
    var arguments: JSONObject
    var place: [ResultStep]
  }

  struct Origin {
    var place: [ResultStep]
    var part: DetachedPart?
  }

  init(
    _ content: Content, container: ResultContainer, source: ResolvedValue, path: [GraphQLError.PathElement],
    origin: Origin?
  ) {
    self.content = content
    self.container = container
    self.source = source
    self.path = path
    self.origin = origin
  }

  /// Whether somebody still wants the part.
  var isWanted: Bool {
    if isNull { return false }
    switch content {
    case .fields(_, let fragments): return fragments.contains { $0.failure == nil }
    case .item(let list, _): return list.state != .over
    }
  }
}

/// Something to be delivered later that execution came across. It counts only if its place has not been dropped with a
/// null above it when the part around it is finished.
struct Discovery {
  enum Content {
    case deferral(DeferralPlan, source: ResolvedValue)
    case list(StreamedList)
  }

  var content: Content
  /// The open positions from the part's root down to the object or list, which is the last one's container.
  var place: [ResultStep]
  var path: [GraphQLError.PathElement]
}
