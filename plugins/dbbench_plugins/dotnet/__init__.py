"""Key-value libraries for .NET, driven through function pointers that expression trees are compiled to.

`host` starts the runtime, `trees` and `keys` write expression trees, `context` makes functions of C of them, `bridge`
does so for a store's operations and `client` calls them, `engine` is what all engines share. Each library is one module
that says what its operations are.
"""
