import MartletGraphQLLanguage

/// Something announced to the client and delivered later: a deferred fragment at one object, or the rest of one list.
/// Confined to its `Execution`.
class DeliveryNode {
  enum State {
    /// What it is inside of has not been delivered yet.
    case waiting
    /// Announced.
    case pending
    /// Delivered, failed or dropped.
    case over
  }

  let path: [GraphQLError.PathElement]
  let label: String?
  var state = State.waiting
  /// The name of the node in the response; nil before it is announced.
  var id: Int?
  /// What is announced when this has been delivered.
  var children: [DeliveryNode] = []

  init(path: [GraphQLError.PathElement], label: String?) {
    self.path = path
    self.label = label
  }
}

/// A deferred fragment at one object.
final class DeferredFragment: DeliveryNode {
  let parent: DeferredFragment?
  /// Whether the fragment is among its parent's children or the roots.
  var isLinked = false
  /// The parts still to be executed.
  var unfinished: [DetachedPart] = []
  /// The parts executed, of which some may have been delivered with another fragment.
  var finished: [DetachedPart] = []
  /// Why the fragment cannot be delivered.
  var failure: [ResponseError]?

  init(path: [GraphQLError.PathElement], label: String?, parent: DeferredFragment?) {
    self.parent = parent
    super.init(path: path, label: label)
  }

  /// Whether no part is left that would come with this fragment.
  var isEmpty: Bool {
    unfinished.isEmpty && finished.allSatisfy(\.isDelivered)
  }
}

/// The rest of a list.
final class StreamedList: DeliveryNode {
  let plan: StreamPlan
  /// The type of the items.
  let element: WrappedType
  /// Items that have been found and not been completed.
  var items: ArraySlice<ResolvedValue>
  /// Where further items come from; nil when there are none.
  var source: SourceEvents?
  var isAsking = false
  /// Whether the list is among those to be looked at.
  var isTouched = false
  /// Why no further items come.
  var failure: [ResponseError]?
  /// The index of the next item to be completed.
  var nextIndex: Int
  /// Items that are being completed or are completed and not delivered, in order.
  var ahead: [DetachedPart] = []

  init(
    path: [GraphQLError.PathElement], plan: StreamPlan, element: WrappedType, items: ArraySlice<ResolvedValue>,
    source: SourceEvents?, nextIndex: Int
  ) {
    self.plan = plan
    self.element = element
    self.items = items
    self.source = source
    self.nextIndex = nextIndex
    super.init(path: path, label: plan.label)
  }

  /// Ends the list and lets its source go, unless that is being asked, in which case the answer does it.
  func close() {
    state = .over
    items = []
    ahead = []
    if !isAsking { source?.cancel() }
    source = nil
  }
}
