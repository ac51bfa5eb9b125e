// What the server's public API is made of, so that one import is enough.
@_exported public import MartletAccess
@_exported public import MartletGraphQLExecution
@_exported public import MartletJSON
@_exported public import MartletTracing
@_exported public import MartletVocabulary
