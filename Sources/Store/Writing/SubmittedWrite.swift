/// A write that waits for the writer, and what runs with its outcome. One reference: it is moved from the queue to its
/// group and on.
final class SubmittedWrite: Sendable {
  let request: WriteRequest
  let destination: any StoreDestination
  let completion: @Sendable (Result<Receipt, StoreError>) -> Void

  init(
    _ request: WriteRequest, _ destination: any StoreDestination,
    _ completion: @escaping @Sendable (Result<Receipt, StoreError>) -> Void
  ) {
    self.request = request
    self.destination = destination
    self.completion = completion
  }
}
