import MartletDataStore
import Testing

@Suite struct NoteScreenTests {
  @Test func `a live query is used in main-actor code without an annotation`() async throws {
    let store = try DataStore(models: [Folder.self, Note.self], storage: .inMemory)
    let folder = try await store.save(Folder(id: "f"))
    let screen = NoteScreen(store)
    #expect(screen.text == "…")
    try await screen.write("b", in: folder)
    try await screen.write("a", in: folder)
    while screen.text != "a, b" { await Task.yield() }
    try await folder.notes.fetch()
    #expect(folder.notes.map(\.text) == ["a", "b"])
  }
}
