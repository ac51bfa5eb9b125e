import Martlet

/// The client's result type; in files that also import the server, whose own result type has the same name, it needs
/// this one.
typealias ItemResult = GraphQLResponse<JSONValue>
