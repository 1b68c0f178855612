"""Databases that are reached by ADO.NET: a session over any provider, whose loops over rows run inside .NET.

`provider` finds the provider in an assembly, `loops` is what runs inside .NET, `memory` lays values out for it and
reads them back, `connection` calls it, `session` is what all engines share. Each engine is one module.
"""
