/// One recorded event of an imaginary disk.
package enum FileEvent: Sendable, Equatable {
  case write(path: String, offset: Int, bytes: [UInt8])
  case truncate(path: String, size: Int)
  case sync(path: String)
  case delete(path: String)
}
