"""Databases written in Java, inside the process: a JVM through JPype, and JDBC."""
