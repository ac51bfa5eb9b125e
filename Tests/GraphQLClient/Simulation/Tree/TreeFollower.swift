import MartletDatasync
import MartletJSON

/// What one subscription of a simulation has shown, and what it must not show. Written inside the pump only.
final class TreeFollower: @unchecked Sendable {
  let name: String
  let path: String
  let window: DatasyncWindow
  let node: DatasyncNode
  private let isOfChildren: Bool
  private(set) var lines: [String] = []
  private(set) var faults: [String] = []
  var ended: String?
  /// Children in the order that previous keys give.
  private var children: [(key: String, value: JSONValue)] = []
  private var whole = JSONValue.null
  /// Keys whose last event was not acknowledged; the empty one stands for the node.
  private var pending: Set<String> = []

  init(_ name: String, _ path: String, _ type: DatasyncEventType, _ window: DatasyncWindow, _ node: DatasyncNode) {
    (self.name, self.path, self.window, self.node) = (name, path, window, node)
    if case .child = type { isOfChildren = true } else { isOfChildren = false }
  }

  /// The value as the events make it.
  var value: JSONValue {
    guard isOfChildren else { return whole }
    var object = JSONObject()
    for child in children { object[child.key] = child.value }
    return children.isEmpty ? .null : .object(object)
  }

  var isAcknowledged: Bool { pending.isEmpty }

  func take(_ event: DatasyncEvent) {
    lines.append("\(event.eventType) \(event.key) \(event.value.json) \(event.isAcknowledged)")
    let place = children.firstIndex { $0.key == event.key }
    switch event.eventType {
    case .valueChange: take(event.value.json)
    case .valueAcknowledgement:
      if event.value.json != whole { fault("an acknowledgement has another value", event) }
      acknowledged("", event)
      return
    case .childAddition:
      if place != nil { fault("added twice", event) }
      insert(event)
    case .childChange:
      guard let place else { return fault("changed without having been added", event) }
      if children[place].value == event.value.json, pending.contains(event.key) == !event.isAcknowledged {
        fault("changed without a change", event)
      }
      children.remove(at: place)
      insert(event)
    case .childRemoval:
      guard let place else { return fault("removed without having been added", event) }
      if children[place].value != event.value.json { fault("removed with another value than it had", event) }
      children.remove(at: place)
    case .childAcknowledgement:
      if event.value.json != place.map({ children[$0].value }) ?? .null {
        fault("an acknowledgement has another value", event)
      }
      acknowledged(event.key, event)
      return
    default: return fault("not asked for", event)
    }
    let key = isOfChildren ? event.key : ""
    if event.isAcknowledged { pending.remove(key) } else { pending.insert(key) }
  }

  private func insert(_ event: DatasyncEvent) {
    var place = 0
    if let previous = event.previousChildKey {
      guard let found = children.firstIndex(where: { $0.key == previous }) else {
        return fault("stands after a child that is not there", event)
      }
      place = found + 1
    }
    children.insert((event.key, event.value.json), at: place)
  }

  private func take(_ value: JSONValue) {
    if path == "/clock", let old = whole.int, let new = value.int, new <= old {
      faults.append("\(name): the clock went from \(old) to \(new)")
    }
    whole = value
  }

  private func acknowledged(_ key: String, _ event: DatasyncEvent) {
    if pending.remove(key) == nil { fault("acknowledged twice, or without having been pending", event) }
  }

  private func fault(_ text: String, _ event: DatasyncEvent) {
    faults.append("\(name): \(text): \(lines.last ?? "") after \(lines.suffix(6).dropLast())")
  }
}
