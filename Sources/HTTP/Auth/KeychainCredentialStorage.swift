#if canImport(Security)
  internal import Foundation
  public import MartletGraphQLClient
  internal import Security

  /// Keeps credentials in the system's keychain, as generic passwords of one service. They are readable after the
  /// device was unlocked for the first time, and are not copied to other devices.
  public struct KeychainCredentialStorage: CredentialStorage {
    /// What the keychain answered in place of doing what it was asked.
    public struct Failure: Error, Sendable, Hashable, CustomStringConvertible {
      /// The system's number for it (`OSStatus`).
      public let status: Int32
      /// One sentence with the number.
      public var description: String { "The keychain refused with the status \(status)." }
    }

    private let service: String

    /// - Parameter service: Names the program's passwords, such as its bundle identifier.
    public init(service: String) {
      self.service = service
    }

    /// What was kept under a name.
    /// - Throws: `Failure`.
    public func read(_ name: String) async throws -> [UInt8]? {
      var query = item(name)
      query[kSecReturnData] = true
      query[kSecMatchLimit] = kSecMatchLimitOne
      var found: CFTypeRef?
      // The result is the caller's, and is released with the variable.
      let status = unsafe SecItemCopyMatching(query as CFDictionary, &found)
      if status == errSecItemNotFound { return nil }
      guard status == errSecSuccess, let data = found as? Data else { throw Failure(status: status) }
      return Array(data)
    }

    /// Keeps bytes under a name.
    /// - Throws: `Failure`.
    public func write(_ bytes: [UInt8]?, _ name: String) async throws {
      guard let bytes else {
        let status = SecItemDelete(item(name) as CFDictionary)
        guard status == errSecSuccess || status == errSecItemNotFound else { throw Failure(status: status) }
        return
      }
      var values: [CFString: Any] = [kSecValueData: Data(bytes)]
      var status = SecItemUpdate(item(name) as CFDictionary, values as CFDictionary)
      if status == errSecItemNotFound {
        values[kSecAttrAccessible] = kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly
        // In place of a dictionary with both, which no call of the keychain takes.
        let whole = item(name).merging(values) { $1 }
        status = unsafe SecItemAdd(whole as CFDictionary, nil)
      }
      guard status == errSecSuccess else { throw Failure(status: status) }
    }

    private func item(_ name: String) -> [CFString: Any] {
      [kSecClass: kSecClassGenericPassword, kSecAttrService: service, kSecAttrAccount: name]
    }
  }
#endif
