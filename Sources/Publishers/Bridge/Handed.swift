/// A value handed from one thread to another.
///
/// `@unchecked Sendable` holds by the contract of publishers: a subscriber is called by one thread at a time, which is
/// what the locks around subscribers see to, and a value belongs to the subscriber it was sent to. As Combine does,
/// publishers take closures and values that the compiler cannot prove so.
struct Handed<Value>: @unchecked Sendable {
  let value: Value
  init(_ value: Value) { self.value = value }
}
