import Foundation
import MartletSQLite
import Testing

/// Which file a path names.
@Suite struct FileIdentityTests {
  @Test func `a replaced file is another one, a written or renamed file is the same`() throws {
    let folder = FolderTests.Temporary()
    try FileManager.default.createDirectory(atPath: folder.path, withIntermediateDirectories: true)
    let (path, moved) = (folder.path + "/a", folder.path + "/b")
    #expect(FileIdentity(path) == nil)
    try Data("1".utf8).write(to: URL(fileURLWithPath: path))
    let first = try #require(FileIdentity(path))
    let handle = try #require(FileHandle(forWritingAtPath: path))
    try handle.write(contentsOf: Data("22".utf8))
    try handle.close()
    #expect(FileIdentity(path) == first)
    try FileManager.default.moveItem(atPath: path, toPath: moved)
    #expect(FileIdentity(path) == nil)
    #expect(FileIdentity(moved) == first)
    try Data("1".utf8).write(to: URL(fileURLWithPath: path))
    #expect(FileIdentity(path) != first)
    #expect(FileIdentity(path + "/c") == nil)
  }
}
