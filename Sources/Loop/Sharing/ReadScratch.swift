/// Memory to read into, one per loop and shared by all its connections, which therefore hold none while idle.
@safe package final class ReadScratch {
  /// Owned by this object and freed with it; written only inside the loop's turn.
  package let memory: UnsafeMutableRawBufferPointer

  init(count: Int) {
    unsafe memory = UnsafeMutableRawBufferPointer.allocate(byteCount: count, alignment: 64)
  }

  deinit {
    unsafe memory.deallocate()
  }

  /// Shows the first `count` bytes, which were just written.
  package func show(_ count: Int, to body: (borrowing RawSpan) -> Void) {
    unsafe precondition(count <= memory.count, "more was read than there is room for")
    // The memory outlives the call and nothing writes to it before the body returns.
    body(unsafe RawSpan(_unsafeStart: UnsafeRawPointer(memory.baseAddress.unsafelyUnwrapped), byteCount: count))
  }
}
