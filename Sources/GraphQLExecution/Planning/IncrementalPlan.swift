internal import MartletGraphQLLanguage
import MartletJSON

/// The shape in which a client wants a response in parts.
public enum IncrementalFormat: Sendable, Hashable {
  /// The current proposal: `pending`, `incremental` and `completed`, by `id`. A field is delivered once, however many
  /// deferred fragments select it.
  case current
  /// The proposal of 2022 (`deferSpec=20220824`): `incremental` entries by `path` and `label`. Each deferred fragment
  /// is delivered whole, with fields that other parts have as well, since its clients read fragments one by one.
  case older
}

/// One application of `@defer`, in one place of the plan.
package final class DeferUsage: Sendable {
  package let label: String?
  /// The deferred fragment around this one; it is delivered first.
  package let parent: DeferUsage?

  init(label: String?, parent: DeferUsage?) {
    self.label = label
    self.parent = parent
  }

  /// Whether this stands inside one of `usages`.
  func isInside(_ usages: [DeferUsage]) -> Bool {
    var outer = parent
    while let usage = outer {
      if usages.contains(where: { $0 === usage }) { return true }
      outer = usage.parent
    }
    return false
  }
}

/// What is deferred at an object.
package final class DeferralPlan: Sendable {
  /// The deferred fragments that begin at the object; outer ones before those inside them.
  package let usages: [DeferUsage]
  /// The object's deferred fields, by the deferred fragments that select them.
  package let groups: [DeferredGroup]

  init(usages: [DeferUsage], groups: [DeferredGroup]) {
    self.usages = usages
    self.groups = groups
  }
}

/// Fields of one object that the same deferred fragments select. They are executed and delivered together.
package struct DeferredGroup: Sendable {
  package let usages: [DeferUsage]
  package let selection: SelectionPlan
}

/// How a list is streamed.
package final class StreamPlan: Sendable {
  package let label: String?
  /// `initialCount` as written; nil for its default.
  let initialCount: Value?
  /// The field as its streamed items are completed: they have left all deferred fragments around the list.
  let items: FieldPlan

  init(label: String?, initialCount: Value?, items: FieldPlan) {
    self.label = label
    self.initialCount = initialCount
    self.items = items
  }

  /// How many items a list has to have before it is delivered for the first time.
  func initialItems(under variables: JSONObject) throws(PlanFault) -> Int {
    guard let literal = initialCount else { return 0 }
    let number: Int64?
    switch literal.kind {
    case .int(let digits): number = Int64(digits)
    case .variable(let name):
      switch variables[name] {
      case nil: number = 0
      case .int(let given)?: number = given
      default: number = nil
      }
    case .float, .string, .boolean, .null, .enumeration, .list, .object: number = nil
    }
    guard let number, number >= 0 else {
      throw PlanFault(
        message: "Argument 'initialCount' of '@stream' must not be negative.",
        locations: [literal.location.source].compactMap { $0 })
    }
    return Int(clamping: number)
  }
}
