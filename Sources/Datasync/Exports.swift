@_exported public import MartletGraphQLClient
