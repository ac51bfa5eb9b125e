// The one file of this module that touches memory through pointers. The pointer lives inside one closure, and the range
// is checked before.

/// Appends `span[range]` to `bytes`. The range must lie inside the span.
package func append(_ span: borrowing RawSpan, _ range: Range<Int>, to bytes: inout [UInt8]) {
  precondition(range.lowerBound >= 0 && range.upperBound <= span.byteCount, "a range must lie inside its span")
  unsafe span.withUnsafeBytes { buffer in
    unsafe bytes.append(contentsOf: UnsafeRawBufferPointer(rebasing: buffer[range]))
  }
}
