import MartletGraphQLExecution
import MartletJSON
import MartletModelSDL
import MartletModels

/// Asks a schema's file what a server would answer, where the server does not.
enum LocalIntrospection {
  static func answer(schemaFile: String, _ document: String, _ variables: JSONObject) async throws -> JSONObject {
    let executable = try ExecutableSchema(try SchemaCommand.read(schemaFile).schema, resolvers: Resolvers())
    let response = await executable.execute(document, variables: variables)
    return try JSONValue(parsing: response.bytes).object ?? JSONObject()
  }
}
