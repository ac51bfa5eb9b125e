import Foundation
import MartletJSON
import Testing

@testable import MartletCommand

@Suite struct LocalIntrospectionTests {
  @Test func `a schema file gives import what the server's introspection would`() async throws {
    let file = TutorialTests.root.appendingPathComponent("Examples/DepartureBoard/schema.graphql").path
    let answer = try await LocalIntrospection.answer(
      schemaFile: file, ImportTarget.document, ImportTarget.variables(model: "Plane"))
    let target = try ImportTarget(model: "Plane", answer: try ImportCommand.data(of: answer))
    #expect(target.createMember == "createPlane")
    #expect(target.updateMember == "updatePlane")
    #expect(target.getField == "getPlane")
    #expect(target.keys == ["tailNumber"])
    #expect(target.fields.first { $0.name == "seats" }?.type == .named("Int", .scalar))
  }
}
