// A stand-in for the providers of SQL Server Compact (SQLCE) and VistaDB (VISTADB), as unkind as providers are. Beneath it is
// Mono.Data.Sqlite. It refuses a parameter without a type or of another one, one that has no name, a command outside of the
// transaction that is open, a second reader of a command, a reader that is closed or has no row, and a commit beside an open
// reader. It pads NCHAR, has types of four bytes, and gives up after five seconds of waiting for a lock.
using System;
using System.Collections;
using System.Collections.Generic;
using System.Data;
using System.Data.Common;
using System.Globalization;
using System.IO;
using System.Text.RegularExpressions;
using Mono.Data.Sqlite;

#if SQLCE
namespace System.Data.SqlServerCe
{
    public sealed class SqlCeProviderFactory : Fake.FakeFactory
    {
        public static readonly SqlCeProviderFactory Instance = new SqlCeProviderFactory();
    }
    public enum CommitMode { Deferred, Immediate }
    public sealed class SqlCeEngine : IDisposable
    {
        readonly string text;
        public SqlCeEngine(string connectionString) { text = connectionString; }
        public void CreateDatabase() { Fake.FakeConnection.Create(text); }
        public void Dispose() { }
    }
}
#else
namespace VistaDB.Provider
{
    public sealed class VistaDBProviderFactory : Fake.FakeFactory
    {
        public static readonly VistaDBProviderFactory Instance = new VistaDBProviderFactory();
    }
}
namespace VistaDB.DDA
{
    public interface IVistaDBDatabase { void Close(); }
    public interface IVistaDBDDA : IDisposable
    {
        IVistaDBDatabase CreateDatabase(string fileName, bool stayExclusive, string key, int pageSize, int LCID, bool caseSensitive);
    }
    public sealed class VistaDBEngine
    {
        public static readonly VistaDBEngine Connections = new VistaDBEngine();
        public IVistaDBDDA OpenDDA() { return new Maker(); }
        sealed class Maker : IVistaDBDDA, IVistaDBDatabase
        {
            public IVistaDBDatabase CreateDatabase(string fileName, bool stayExclusive, string key, int pageSize, int LCID, bool caseSensitive)
            {
                Fake.FakeConnection.Create("Data Source=" + fileName);
                return this;
            }
            public void Close() { }
            public void Dispose() { }
        }
    }
}
#endif

namespace Fake
{
    public class FakeFactory : DbProviderFactory
    {
        public override DbConnection CreateConnection() { return new FakeConnection(); }
        public override DbCommand CreateCommand() { return new FakeCommand(null); }
        public override DbParameter CreateParameter() { return new FakeParameter(); }
    }

    public sealed class FakeException : DbException
    {
        public int NativeError { get; private set; }
        public FakeException(string text, int number) : base(text) { NativeError = number; }
        public static Exception Of(SqliteException thrown)
        {
            var locked = thrown.Message.Contains("locked");
            return new FakeException(locked ? "The system timed out waiting for a lock" : thrown.Message, locked ? 25090 : 25000);
        }
    }

    public sealed class FakeConnection : DbConnection
    {
        internal SqliteConnection inner;
        internal FakeTransaction current;
        internal int readers;
        string text = "";

        static string File(string text)
        {
            string file = null;
            foreach (var part in text.Split(';'))
            {
                var pair = part.Split(new[] { '=' }, 2);
                if (pair[0] == "Data Source") file = pair[1];
                else if (pair[0] != "Max Database Size" && pair[0] != "Open Mode")
                    throw new ArgumentException("Keyword not supported: " + pair[0]);
            }
            return file;
        }
        public static void Create(string text)
        {
            if (System.IO.File.Exists(File(text))) throw new FakeException("File already exists", 25114);
            using (var made = new SqliteConnection("Pooling=False;Data Source=" + File(text))) { made.Open(); Run(made, "PRAGMA user_version=1"); }
        }
        internal static void Run(SqliteConnection on, string sql)
        {
            using (var command = on.CreateCommand()) { command.CommandText = sql; command.ExecuteNonQuery(); }
        }
        public override string ConnectionString { get { return text; } set { File(value); text = value; } }
        public override string Database { get { return "data"; } }
        public override string DataSource { get { return File(text); } }
        public override string ServerVersion { get { return "4.0.8876.1"; } }
        public override ConnectionState State { get { return inner == null ? ConnectionState.Closed : ConnectionState.Open; } }
        public override void ChangeDatabase(string name) { throw new NotSupportedException(); }
        public override void Open()
        {
            if (inner != null) throw new InvalidOperationException("The connection is already open");
            if (!System.IO.File.Exists(File(text))) throw new FakeException("The database file cannot be found", 25046);
            inner = new SqliteConnection("Pooling=False;Default Timeout=5;Journal Mode=Persist;Synchronous=Full;Data Source=" + File(text));
            inner.Open();
        }
        public override void Close()
        {
            if (inner == null) return;
            if (readers > 0) throw new InvalidOperationException("A reader is open");
            inner.Close();
            inner.Dispose();
            inner = null;
        }
        protected override void Dispose(bool disposing) { if (disposing) Close(); base.Dispose(disposing); }
        protected override DbCommand CreateDbCommand() { return new FakeCommand(this); }
        protected override DbTransaction BeginDbTransaction(IsolationLevel level)
        {
            if (current != null) throw new InvalidOperationException("Parallel transactions are not supported");
            return current = new FakeTransaction(this);
        }
    }

    public sealed class FakeTransaction : DbTransaction
    {
        readonly FakeConnection on;
        bool ended;
        public FakeTransaction(FakeConnection on) { this.on = on; Do("BEGIN"); }
        protected override DbConnection DbConnection { get { return ended ? null : on; } }
        public override IsolationLevel IsolationLevel { get { return IsolationLevel.ReadCommitted; } }
        void Do(string sql)
        {
#if IGNORES
            return;
#else
            try { FakeConnection.Run(on.inner, sql); }
            catch (SqliteException thrown) { throw FakeException.Of(thrown); }
#endif
        }
        void End(string how)
        {
            if (ended) throw new InvalidOperationException("The transaction has completed; it is no longer usable");
            if (on.readers > 0) throw new InvalidOperationException("A reader is open");
            Do(how);
            ended = true;
            on.current = null;
        }
        public override void Commit() { End("COMMIT"); }
#if SQLCE
        public void Commit(System.Data.SqlServerCe.CommitMode mode) { Commit(); }
#endif
        public override void Rollback() { End("ROLLBACK"); }
        protected override void Dispose(bool disposing) { if (disposing && !ended) End("ROLLBACK"); base.Dispose(disposing); }
    }

    public sealed class FakeParameter : DbParameter
    {
        bool typed;
        DbType type;
        object held;
        public override DbType DbType { get { return type; } set { type = value; typed = true; } }
        public override ParameterDirection Direction { get { return ParameterDirection.Input; } set { } }
        public override bool IsNullable { get; set; }
        public override string ParameterName { get; set; }
        public override int Size { get; set; }
        public override string SourceColumn { get; set; }
        public override bool SourceColumnNullMapping { get; set; }
        public override DataRowVersion SourceVersion { get; set; }
        public override void ResetDbType() { typed = false; }
        public override object Value
        {
            get { return held; }
            set
            {
                if (value == null) throw new ArgumentException("a parameter's missing value is DBNull.Value");
                if (value != DBNull.Value && (!typed || Of(type) != value.GetType()))
                    throw new InvalidCastException("a " + value.GetType().Name + " for a parameter of type " + (typed ? type.ToString() : "unknown"));
                held = value;
            }
        }
        static Type Of(DbType type)
        {
            switch (type)
            {
                case DbType.Int64: return typeof(long);
                case DbType.Double: return typeof(double);
                case DbType.Decimal: return typeof(decimal);
                case DbType.DateTime: return typeof(DateTime);
                case DbType.Binary: return typeof(byte[]);
                default: return typeof(string);
            }
        }
    }

    public sealed class FakeParameters : DbParameterCollection
    {
        readonly List<FakeParameter> held = new List<FakeParameter>();
        public override int Count { get { return held.Count; } }
        public override bool IsFixedSize { get { return false; } }
        public override bool IsReadOnly { get { return false; } }
        public override bool IsSynchronized { get { return false; } }
        public override object SyncRoot { get { return held; } }
        public override int Add(object value) { held.Add((FakeParameter)value); return held.Count - 1; }
        public override void AddRange(Array values) { foreach (var value in values) Add(value); }
        public override void Clear() { held.Clear(); }
        public override bool Contains(object value) { return held.Contains((FakeParameter)value); }
        public override bool Contains(string name) { return IndexOf(name) >= 0; }
        public override void CopyTo(Array array, int index) { ((ICollection)held).CopyTo(array, index); }
        public override IEnumerator GetEnumerator() { return held.GetEnumerator(); }
        public override int IndexOf(object value) { return held.IndexOf((FakeParameter)value); }
        public override int IndexOf(string name) { return held.FindIndex(each => each.ParameterName == name); }
        public override void Insert(int index, object value) { held.Insert(index, (FakeParameter)value); }
        public override void Remove(object value) { held.Remove((FakeParameter)value); }
        public override void RemoveAt(int index) { held.RemoveAt(index); }
        public override void RemoveAt(string name) { held.RemoveAt(IndexOf(name)); }
        protected override DbParameter GetParameter(int index) { return held[index]; }
        protected override DbParameter GetParameter(string name) { return held[IndexOf(name)]; }
        protected override void SetParameter(int index, DbParameter value) { held[index] = (FakeParameter)value; }
        protected override void SetParameter(string name, DbParameter value) { held[IndexOf(name)] = (FakeParameter)value; }
    }

    public sealed class FakeCommand : DbCommand
    {
        static readonly Regex Quoted = new Regex("'(?:[^']|'')*'|\"[^\"]*\"|\\[[^\\]]*\\]");
        readonly FakeParameters parameters = new FakeParameters();
        FakeConnection on;
        SqliteCommand inner;
        internal FakeReader reader;
        string text = "";
        bool disposed;
        public FakeCommand(FakeConnection on) { this.on = on; }
        public override string CommandText
        {
            get { return text; }
            set
            {
                if (Quoted.Replace(value, "").Contains("?")) throw new NotSupportedException("Parameters have names, like @p1");
                text = value;
            }
        }
        public override int CommandTimeout { get { return 0; } set { if (value != 0) throw new ArgumentException("CommandTimeout must be 0"); } }
        public override CommandType CommandType { get { return CommandType.Text; } set { } }
        public override bool DesignTimeVisible { get; set; }
        public override UpdateRowSource UpdatedRowSource { get; set; }
        protected override DbConnection DbConnection { get { return on; } set { on = (FakeConnection)value; } }
        protected override DbParameterCollection DbParameterCollection { get { return parameters; } }
        protected override DbTransaction DbTransaction { get; set; }
        public override void Cancel() { }
        public override void Prepare() { }
        protected override DbParameter CreateDbParameter() { return new FakeParameter(); }
        void Ready()
        {
            if (disposed) throw new ObjectDisposedException("FakeCommand");
            if (on == null || on.inner == null) throw new InvalidOperationException("The connection is closed");
            if (reader != null) throw new InvalidOperationException("There is already an open reader of this command");
            if (DbTransaction != on.current) throw new InvalidOperationException("The command's transaction is not the one of its connection");
            if (inner == null)
            {
                inner = on.inner.CreateCommand();
                var limit = Regex.Replace(text, @"OFFSET 0 ROWS FETCH NEXT (\d+) ROWS ONLY", "LIMIT $1");
                var top = Regex.Match(limit, @"^SELECT TOP (\d+) ");
                inner.CommandText = top.Success ? "SELECT " + limit.Substring(top.Length) + " LIMIT " + top.Groups[1].Value : limit;
                foreach (FakeParameter each in parameters) inner.Parameters.Add(new SqliteParameter(each.ParameterName));
            }
            for (var at = 0; at < parameters.Count; at++)
            {
                var given = (FakeParameter)parameters[at];
                if (given.Value == null) throw new InvalidOperationException("Parameter " + given.ParameterName + " has no value");
                inner.Parameters[at].Value = given.Value is decimal ? (double)(decimal)given.Value : given.Value;
            }
        }
        public override int ExecuteNonQuery()
        {
            Ready();
            try { return inner.ExecuteNonQuery(); }
            catch (SqliteException thrown) { throw FakeException.Of(thrown); }
        }
        public override object ExecuteScalar() { using (var found = ExecuteReader()) return found.Read() ? found.GetValue(0) : null; }
        protected override DbDataReader ExecuteDbDataReader(CommandBehavior behaviour)
        {
            Ready();
            try { reader = new FakeReader(this, on, inner.ExecuteReader()); }
            catch (SqliteException thrown) { throw FakeException.Of(thrown); }
            on.readers++;
            return reader;
        }
        protected override void Dispose(bool disposing)
        {
            if (disposing && reader != null) throw new InvalidOperationException("A reader is open");
            if (disposing && inner != null) inner.Dispose();
            disposed = true;
            base.Dispose(disposing);
        }
    }

    public sealed class FakeReader : DbDataReader
    {
        readonly FakeCommand command;
        readonly FakeConnection on;
        readonly SqliteDataReader inner;
        bool closed, row;
        public FakeReader(FakeCommand command, FakeConnection on, SqliteDataReader inner) { this.command = command; this.on = on; this.inner = inner; }
        SqliteDataReader Open()
        {
            if (closed) throw new InvalidOperationException("The reader is closed");
            return inner;
        }
        public override int FieldCount { get { return Open().FieldCount; } }
        public override bool HasRows { get { return Open().HasRows; } }
        public override bool IsClosed { get { return closed; } }
        public override int Depth { get { return 0; } }
        public override int RecordsAffected { get { return inner.RecordsAffected; } }
        public override bool Read()
        {
            try { return row = Open().Read(); }
            catch (SqliteException thrown) { throw FakeException.Of(thrown); }
        }
        public override bool NextResult() { return false; }
        public override object GetValue(int at)
        {
            if (!row) throw new InvalidOperationException("No data exists for the row or column");
            var value = Open().GetValue(at);
            if (value == DBNull.Value) return value;
            var type = inner.GetDataTypeName(at).ToUpperInvariant();
            if (type == "INT") return Convert.ToInt32(value);
            if (type.StartsWith("NCHAR")) return ((string)value).PadRight(int.Parse(type.Substring(6).TrimEnd(')')));
            if (type.StartsWith("NUMERIC"))
            {
                var places = int.Parse(type.TrimEnd(')').Substring(type.IndexOf(',') + 1), CultureInfo.InvariantCulture);
#if DOUBLES
                return Convert.ToDouble(value);
#else
                return Math.Round(Convert.ToDecimal(value), places) + new decimal(0, 0, 0, false, (byte)places);
#endif
            }
            return value;
        }
        public override void Close()
        {
#if !KEEPS
            if (closed) return;
            closed = true;
            command.reader = null;
            on.readers--;
            inner.Close();
            inner.Dispose();
#endif
        }
        protected override void Dispose(bool disposing) { if (disposing) Close(); }
        public override object this[int at] { get { return GetValue(at); } }
        public override object this[string name] { get { return GetValue(GetOrdinal(name)); } }
        public override string GetName(int at) { return Open().GetName(at); }
        public override int GetOrdinal(string name) { return Open().GetOrdinal(name); }
        public override string GetDataTypeName(int at) { return Open().GetDataTypeName(at); }
        public override Type GetFieldType(int at) { return Open().GetFieldType(at); }
        public override DataTable GetSchemaTable() { throw new NotSupportedException(); }
        public override IEnumerator GetEnumerator() { return new DbEnumerator(this); }
        public override int GetValues(object[] values) { throw new NotSupportedException(); }
        public override bool IsDBNull(int at) { return GetValue(at) == DBNull.Value; }
        public override bool GetBoolean(int at) { return (bool)GetValue(at); }
        public override byte GetByte(int at) { return (byte)GetValue(at); }
        public override long GetBytes(int at, long from, byte[] to, int offset, int count) { throw new NotSupportedException(); }
        public override char GetChar(int at) { throw new NotSupportedException(); }
        public override long GetChars(int at, long from, char[] to, int offset, int count) { throw new NotSupportedException(); }
        public override DateTime GetDateTime(int at) { return (DateTime)GetValue(at); }
        public override decimal GetDecimal(int at) { return (decimal)GetValue(at); }
        public override double GetDouble(int at) { return (double)GetValue(at); }
        public override float GetFloat(int at) { return (float)GetValue(at); }
        public override Guid GetGuid(int at) { return (Guid)GetValue(at); }
        public override short GetInt16(int at) { return (short)GetValue(at); }
        public override int GetInt32(int at) { return (int)GetValue(at); }
        public override long GetInt64(int at) { return (long)GetValue(at); }
        public override string GetString(int at) { return (string)GetValue(at); }
    }
}
