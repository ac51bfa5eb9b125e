import MartletVocabulary

/// Bounds and deadlines of one WebSocket.
package struct WebSocketLimits: Sendable {
  /// Longest message accepted, after decompression; longer ones close with 1009. One MiB is what common peers allow.
  package var messageBytes = 1 << 20
  /// Messages below this size are sent uncompressed, as compressing them costs more than it saves.
  package var compressionThreshold = 128
  /// Silence after which a ping asks for life; nil never asks. 12 s keeps the usual proxies (60 s) from closing.
  package var pingInterval: Duration? = .seconds(12)
  /// How long a ping may stay without any byte from the peer before the connection counts as dead.
  package var pongTimeout: Duration = .seconds(10)
  /// How long a close waits for the peer's part before the transport is dropped.
  package var closeTimeout: Duration = .seconds(5)

  package init() {}
}

/// Which end of the connection a machine is.
package enum WebSocketRole {
  /// Receives masked frames, sends plain ones.
  case server
  /// Sends masked frames; `masks` must be unpredictable to the network (RFC 6455 section 10.3).
  case client(masks: any RandomNumberGenerator)
}

/// Compresses and decompresses messages for permessage-deflate; the zlib binding lives in a higher module.
///
/// Made for the parameters that were negotiated: it decides about window sizes and context takeover.
package protocol WebSocketCompression: AnyObject {
  /// Appends the raw DEFLATE form of one message, ending in a sync flush's empty stored block (`00 00 FF FF`).
  func compress(_ message: [UInt8], into output: inout [UInt8])
  /// Decompresses the next bytes of a message and appends what comes out.
  ///
  /// The machine has already put back the `00 00 FF FF` that ends a message; `endsMessage` says that these bytes do.
  /// Stops with `.tooLarge` before `output` holds more than `limit` bytes. A final block inside a message is allowed
  /// (RFC 7692 section 7.2.3.5): the decompressor resets and continues.
  func decompress(
    _ bytes: [UInt8], endsMessage: Bool, limit: Int, into output: inout [UInt8]
  ) -> WebSocketDecompression
}

/// How a decompression went.
package enum WebSocketDecompression: Sendable {
  case done
  case tooLarge
  case malformed
}
