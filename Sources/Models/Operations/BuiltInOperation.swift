/// What a generated root field does.
package enum BuiltInOperation: Sendable, Hashable {
  case get(model: Int)
  case list(model: Int)
  /// Lists by an index; `index` is its position in the model.
  case listByIndex(model: Int, index: Int)
  /// Lists the records, or what has changed since a time, with versions (`syncXs`).
  case sync(model: Int)
  case create(model: Int)
  case update(model: Int)
  case delete(model: Int)
  /// Several writes that happen together or not at all.
  case transaction
  case subscribe(SubscriptionSource)
  /// The changes of all versioned models, as clients that keep a replica need them.
  case changes
  /// The changes of the tree at, above and below a path.
  case treeChanges

  /// What a subscription field listens to.
  package struct SubscriptionSource: Sendable, Hashable {
    package enum Event: Sendable, Hashable { case create, update, delete }
    package enum Filter: Sendable, Hashable {
      /// The generated `filter` argument.
      case filterArgument
      /// Arguments of a written field with `@aws_subscribe`: each equals the record's field of its name. Argument name
      /// and field position.
      case equalities([Equality])
    }
    package struct Equality: Sendable, Hashable {
      package var argument: String
      package var field: Int

      package init(argument: String, field: Int) {
        self.argument = argument
        self.field = field
      }
    }

    package var model: Int
    package var events: Set<Event>
    package var filter: Filter
    /// Arguments that narrow the generated field to the records of one owner: one for each field that an owner rule
    /// reads.
    package var owners: [Equality] = []

    package init(model: Int, events: Set<Event>, filter: Filter, owners: [Equality] = []) {
      self.model = model
      self.events = events
      self.filter = filter
      self.owners = owners
    }
  }
}

/// A field of a type: its type's name and its own.
package struct FieldPath: Sendable, Hashable {
  package var type: String
  package var field: String

  package init(_ type: String, _ field: String) {
    self.type = type
    self.field = field
  }
}
