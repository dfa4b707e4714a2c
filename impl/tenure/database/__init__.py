"""What stands between the stores and a database: engine, writer, readers, migrations. Only this package knows APSW."""
