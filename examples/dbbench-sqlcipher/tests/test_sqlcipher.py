from dbbench.testing import kit

TestSQLCipher = kit("sqlcipher")
