import Foundation
import MartletTestSupport
import Testing

#if os(Linux)
  /// What programs link is what their users have to install and to keep safe.
  @Suite struct LinkingTests {
    @Test func `a program that only uses HTTP links neither sockets nor TLS of ours`() throws {
      let program = try DynamicSection(of: Programs.url("ShoppingList"))
      #expect(program.needs("libcurl"), "\(program.needed)")
      for library in ["libssl", "libcrypto", "libz", "libsqlite3", "libFoundationNetworking"] {
        #expect(!program.needs(library), "\(program.needed)")
      }
      // None of the code either: the names of a module's types are in the program.
      let bytes = try Data(contentsOf: Programs.url("ShoppingList"), options: .mappedIfSafe)
      #expect(bytes.range(of: Data("MartletHTTPClient".utf8)) != nil)
      #expect(bytes.range(of: Data("MartletSockets".utf8)) == nil)
    }

    @Test func `a program with WebSockets links what they need`() throws {
      let program = try DynamicSection(of: Programs.url("martlet"))
      for library in ["libcurl", "libssl", "libcrypto", "libz"] {
        #expect(program.needs(library), "\(program.needed)")
      }
      let bytes = try Data(contentsOf: Programs.url("martlet"), options: .mappedIfSafe)
      #expect(bytes.range(of: Data("MartletSockets".utf8)) != nil)
    }
  }
#endif
