/// What a subscription asks for, and the kind of an event: in an event exactly one flag is set.
///
/// Kinds of children combine freely; value and child kinds do not mix, which the type excludes. Acknowledgements come
/// in addition to changes and are refused alone.
public enum DatasyncEventType: Hashable, Sendable {
  /// The node as a whole.
  ///
  /// - `change`: the value, at first and after each change.
  /// - `withoutData`: events do not carry the value.
  /// - `acknowledgement`: the server has accepted a value that was reported before that.
  /// - `rejection`: the server refused a write of this client.
  /// - `gap`: changes are missing that happened while the client was away; the value as it is now follows.
  case value(
    change: Bool = false, withoutData: Bool = false, acknowledgement: Bool = false, rejection: Bool = false,
    gap: Bool = false)
  /// The children of the node.
  ///
  /// - `addition`: each child that is known at first, then each new one.
  /// - `change`: a child's value, at any depth.
  /// - `removal`: a child that has gone.
  /// - `acknowledgement`: the server has accepted a child that was reported before that.
  /// - `rejection`: the server refused a write of this client.
  /// - `gap`: changes are missing that happened while the client was away; the children as they are now follow, as
  ///   additions, changes and removals.
  case child(
    addition: Bool = false, change: Bool = false, removal: Bool = false, acknowledgement: Bool = false,
    rejection: Bool = false, gap: Bool = false)

  /// Changes of the value.
  public static let valueChange = value(change: true)
  /// Acknowledgements of the value; an event's kind only.
  public static let valueAcknowledgement = value(acknowledgement: true)
  /// Changes of the value and their acknowledgements.
  public static let valueEvent = value(change: true, acknowledgement: true)
  /// Refused writes; an event's kind only.
  public static let valueRejection = value(rejection: true)
  /// Children that are added.
  public static let childAddition = child(addition: true)
  /// Children that change.
  public static let childChange = child(change: true)
  /// Children that are removed.
  public static let childRemoval = child(removal: true)
  /// Acknowledgements of children; an event's kind only.
  public static let childAcknowledgement = child(acknowledgement: true)
  /// Everything about children, acknowledgements included.
  public static let childEvent = child(addition: true, change: true, removal: true, acknowledgement: true)
  /// Additions, changes and removals of children.
  public static let children = child(addition: true, change: true, removal: true)
  /// Refused writes; an event's kind only.
  public static let childRejection = child(rejection: true)
  /// Missing changes; an event's kind only.
  public static let valueGap = value(gap: true)
  /// Missing changes; an event's kind only.
  public static let childGap = child(gap: true)

  /// Whether the type asks for a change or for a kind of child: what acknowledgements belong to.
  var isComplete: Bool {
    switch self {
    case .value(let change, _, _, _, _): change
    case .child(let addition, let change, let removal, _, _, _): addition || change || removal
    }
  }

  /// Whether it is the kind of an event with a new value of the node.
  var isValueChange: Bool {
    if case .value(change: true, _, _, _, _) = self { true } else { false }
  }

  var hasData: Bool {
    if case .value(_, true, _, _, _) = self { false } else { true }
  }

  /// Whether events of missing changes are asked for, and the kind that they have.
  var gapKind: DatasyncEventType? {
    switch self {
    case .value(_, _, _, _, let gap): gap ? .valueGap : nil
    case .child(_, _, _, _, _, let gap): gap ? .childGap : nil
    }
  }
}

/// Which acknowledgements of children a subscription gets.
public enum DatasyncAcknowledgements: Hashable, Sendable {
  /// Those of every kind of change, also of kinds that are not subscribed.
  case ofAllKinds
  /// Those of the kinds that are subscribed.
  case ofSubscribedKinds
}
