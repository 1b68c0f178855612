"""ODBC through pyodbc: SQLite here, PostgreSQL and MariaDB beside their other drivers, any other by --url."""
