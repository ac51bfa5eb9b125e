@_exported public import MartletGraphQLClient
@_exported public import MartletGraphQLStore
