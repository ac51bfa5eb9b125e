internal import CMartletZlib

/// One zlib stream. zlib keeps a pointer from its state back to the stream, so the stream has a fixed place on the
/// heap. All unsafe dealings with zlib are in this file.
@safe final class ZlibStream {
  enum Direction: Hashable {
    case deflate
    case inflate
  }

  enum Outcome {
    case done
    case tooLarge
    case malformed
  }

  let direction: Direction
  /// Owned by this object; made and freed with it.
  private let stream: UnsafeMutablePointer<z_stream>

  private static let chunk = 16_384

  /// A raw DEFLATE stream with a window of two to the power of `windowBits`, 9 to 15; nil when memory is short.
  init?(_ direction: Direction, windowBits: Int, level: Int32) {
    self.direction = direction
    unsafe stream = .allocate(capacity: 1)
    unsafe stream.initialize(to: z_stream())
    let bits = Int32(min(max(windowBits, 9), 15))
    // The hash is as small as the window: what a connection costs is one number, not two.
    let result =
      switch direction {
      case .deflate: unsafe martlet_deflate_init(stream, level, 0 - bits, max(1, bits - 7))
      case .inflate: unsafe martlet_inflate_init(stream, 0 - bits)
      }
    if result != Z_OK {
      unsafe stream.deallocate()
      return nil
    }
  }

  deinit {
    switch direction {
    case .deflate: _ = unsafe deflateEnd(stream)
    case .inflate: _ = unsafe inflateEnd(stream)
    }
    unsafe stream.deallocate()
  }

  /// Forgets everything, as if new.
  func reset() {
    switch direction {
    case .deflate: _ = unsafe deflateReset(stream)
    case .inflate: _ = unsafe inflateReset(stream)
    }
  }

  /// Appends the compressed form of `input`, up to and including the empty stored block of a sync flush.
  func deflate(_ input: [UInt8], into output: inout [UInt8]) {
    precondition(direction == .deflate, "an inflating stream does not compress")
    unsafe input.withUnsafeBufferPointer { source in
      unsafe withUnsafeTemporaryAllocation(of: UInt8.self, capacity: Self.chunk) { target in
        // zlib reads the input and does not change it; the pointers are valid until the loop is over.
        unsafe stream.pointee.next_in = UnsafeMutablePointer(mutating: source.baseAddress)
        unsafe stream.pointee.avail_in = UInt32(clamping: source.count)
        repeat {
          unsafe stream.pointee.next_out = target.baseAddress
          unsafe stream.pointee.avail_out = UInt32(Self.chunk)
          _ = unsafe CMartletZlib.deflate(stream, Z_SYNC_FLUSH)
          let produced = unsafe Self.chunk - Int(stream.pointee.avail_out)
          unsafe output.append(contentsOf: target.prefix(produced))
        } while unsafe stream.pointee.avail_out == 0
        unsafe stream.pointee.next_in = nil
        unsafe stream.pointee.next_out = nil
      }
    }
  }

  /// Appends what `input` decompresses to, stopping before `output` holds more than `limit` bytes.
  func inflate(_ input: [UInt8], limit: Int, into output: inout [UInt8]) -> Outcome {
    precondition(direction == .inflate, "a deflating stream does not decompress")
    return unsafe input.withUnsafeBufferPointer { source in
      unsafe withUnsafeTemporaryAllocation(of: UInt8.self, capacity: Self.chunk) { target in
        unsafe stream.pointee.next_in = UnsafeMutablePointer(mutating: source.baseAddress)
        unsafe stream.pointee.avail_in = UInt32(clamping: source.count)
        defer {
          unsafe stream.pointee.next_in = nil
          unsafe stream.pointee.next_out = nil
        }
        while true {
          unsafe stream.pointee.next_out = target.baseAddress
          unsafe stream.pointee.avail_out = UInt32(Self.chunk)
          let result = unsafe CMartletZlib.inflate(stream, Z_SYNC_FLUSH)
          let produced = unsafe Self.chunk - Int(stream.pointee.avail_out)
          if output.count + produced > limit { return .tooLarge }
          unsafe output.append(contentsOf: target.prefix(produced))
          switch result {
          case Z_OK:
            if unsafe stream.pointee.avail_in == 0, unsafe stream.pointee.avail_out != 0 { return .done }
          case Z_BUF_ERROR:
            // Nothing to do with what there is: all input is taken and all output given.
            return .done
          case Z_STREAM_END:
            // A final block ends the DEFLATE stream, not the message (RFC 7692 section 7.2.3.5); the window stays.
            _ = unsafe inflateResetKeep(stream)
            if unsafe stream.pointee.avail_in == 0 { return .done }
          default:
            return .malformed
          }
        }
      }
    }
  }
}
