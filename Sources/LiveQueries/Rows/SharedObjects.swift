/// Shared chunks of objects. One type for objects of all classes, so that what is done to the chunks is compiled once
/// for it and not looked up at run time for each class.
package struct SharedObjects: Sendable {
  package typealias Object = any AnyObject & Sendable

  private var chunks = SharedChunks<Object>()

  /// No objects.
  package init() {}

  /// These objects.
  package init(_ objects: [Object]) { chunks = SharedChunks(objects) }

  /// How many objects there are.
  package var count: Int { chunks.count }

  /// The object at an index.
  package subscript(index: Int) -> Object { chunks[index] }

  /// Replaces the object at an index.
  package mutating func replace(at index: Int, with object: Object) { chunks.replace(at: index, with: object) }

  /// Carries out changes of the rows that the objects are made of. `object` makes one from the row at an index after.
  package mutating func apply<Failure: Error>(
    _ changes: ChangeSet, object: (Int) throws(Failure) -> Object
  ) throws(Failure) {
    try changes.apply(to: &chunks, element: object)
  }
}
