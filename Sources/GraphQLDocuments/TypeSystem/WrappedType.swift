/// The number of a named type within its schema.
package struct TypeID: Hashable, Sendable {
  package let index: Int

  init(index: Int) {
    self.index = index
  }
}

/// A named type of a schema inside list and non-null wrappers (section 3.4.1 "Wrapping Types").
///
/// Small and without references, because validation and execution copy it for every field.
package struct WrappedType: Hashable, Sendable {
  /// The named type inside all wrappers.
  package let named: TypeID
  /// Two bits a wrapper, the outermost lowest: 1 is a list, 2 is non-null, 0 is the end.
  private let wrappers: UInt64

  /// Lists inside each other that fit: with a non-null each, and one more, they take 62 of 64 bits.
  package static let maximumLists = 15

  private init(named: TypeID, wrappers: UInt64) {
    self.named = named
    self.wrappers = wrappers
  }

  /// The named type without wrappers.
  package init(_ named: TypeID) {
    self.init(named: named, wrappers: 0)
  }

  /// A list of this type. The caller has checked the depth against `maximumLists`.
  package var listed: WrappedType {
    precondition(wrappers >> 60 == 0, "types nest at most WrappedType.maximumLists lists")
    return WrappedType(named: named, wrappers: wrappers << 2 | 1)
  }

  /// This type without null.
  package var nonNull: WrappedType {
    isNonNull ? self : WrappedType(named: named, wrappers: wrappers << 2 | 2)
  }

  /// Whether null is excluded.
  package var isNonNull: Bool { wrappers & 3 == 2 }

  /// Whether the type is a list, with or without null.
  package var isList: Bool { nullable.wrappers & 3 == 1 }

  /// Whether nothing but perhaps a non-null is around the named type.
  package var isNamed: Bool { nullable.wrappers == 0 }

  /// This type with null, as far as the outermost wrapper goes.
  package var nullable: WrappedType {
    isNonNull ? WrappedType(named: named, wrappers: wrappers >> 2) : self
  }

  /// The type of the elements if this is a list, with or without null.
  package var element: WrappedType? {
    let list = nullable
    return list.wrappers & 3 == 1 ? WrappedType(named: named, wrappers: list.wrappers >> 2) : nil
  }
}
