from dbbench.testing import SQLContract


class TestSQLCipher(SQLContract):
    engine = "sqlcipher"
