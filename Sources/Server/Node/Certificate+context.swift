internal import MartletSockets

extension ServerConfiguration.Certificate {
  /// Reads certificate and key.
  ///
  /// - Throws: `certificate` when a file cannot be read or the key is not the certificate's.
  func context() throws(ServerError) -> TLSServerContext {
    do {
      return try TLSServerContext(certificateFile: certificateFile, keyFile: keyFile)
    } catch {
      throw ServerError(.certificate, "\(error)")
    }
  }
}
