/// A write, and what runs with its outcome.
package struct StoreSubmission: Sendable {
  package let request: WriteRequest
  package let completion: @Sendable (Result<Receipt, StoreError>) -> Void

  package init(_ request: WriteRequest, completion: @escaping @Sendable (Result<Receipt, StoreError>) -> Void) {
    self.request = request
    self.completion = completion
  }
}
