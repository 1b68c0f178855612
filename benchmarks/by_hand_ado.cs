// Queries, and the load of a table, through ADO.NET by hand: what sqlite+ado is measured against.
//
// Arguments: the provider's assembly, the connection string, pragmas. Each line of the input is a call, its parts apart
// by tabs; the answer is the microseconds of CPU time, those of the clock, and the number of rows.
//     value COLUMN SQL     GetValue, each value kept in a List<object>
//     typed COLUMN SQL     GetString or GetDouble, each value kept in a list of its type
//     drop COLUMN SQL      the same getters, nothing kept
//     insert FILE SQL      a prepared command for each row of the file; undone outside the clock
using System;
using System.Collections.Generic;
using System.Data;
using System.Data.Common;
using System.Diagnostics;
using System.IO;
using System.Linq;
using System.Reflection;
using System.Runtime.InteropServices;
using System.Text;

static class ByHand
{
    struct Timespec { public long Seconds, Nanoseconds; }
    [DllImport("libc")] static extern int clock_gettime(int clock, out Timespec time);
    static double Processor()
    {
        Timespec time;
        clock_gettime(2, out time);  // CLOCK_PROCESS_CPUTIME_ID
        return time.Seconds * 1e6 + time.Nanoseconds / 1e3;
    }

    static readonly Dictionary<string, DbCommand> prepared = new Dictionary<string, DbCommand>();

    static void Main(string[] arguments)
    {
        var kind = Assembly.LoadFrom(arguments[0]).GetExportedTypes().Single(each => each.IsSubclassOf(typeof(DbProviderFactory)));
        var connection = ((DbProviderFactory)kind.GetField("Instance").GetValue(null)).CreateConnection();
        connection.ConnectionString = arguments[1];
        connection.Open();
        foreach (var pragma in arguments.Skip(2)) Command(connection, pragma).ExecuteNonQuery();
        for (string line; (line = Console.ReadLine()) != null;)
        {
            var parts = line.Split('\t');
            var command = Command(connection, parts[2]);
            int column;
            int.TryParse(parts[1], out column);
            var table = parts[0] == "insert" ? new Table(parts[1]) : null;
            var transaction = command.Transaction = table == null ? null : connection.BeginTransaction();
            double processor = Processor();
            var clock = Stopwatch.StartNew();
            int rows = table != null ? table.Insert(command)
                : parts[0] == "value" ? Values(command, column).Count
                : parts[0] == "typed" ? Typed(command, column)
                : Dropped(command, column);
            Console.WriteLine("{0} {1} {2}", Processor() - processor, clock.Elapsed.TotalMilliseconds * 1e3, rows);
            if (transaction != null) transaction.Rollback();
        }
    }

    static DbCommand Command(DbConnection connection, string sql)
    {
        DbCommand found;
        if (prepared.TryGetValue(sql, out found)) return found;
        prepared[sql] = found = connection.CreateCommand();
        found.CommandText = sql;
        foreach (var each in sql.Where(each => each == '?')) found.Parameters.Add(found.CreateParameter());
        return found;
    }

    static List<object> Values(DbCommand command, int column)
    {
        var found = new List<object>();
        using (var reader = command.ExecuteReader())
            while (reader.Read()) found.Add(reader.GetValue(column));
        return found;
    }

    static int Typed(DbCommand command, int column)
    {
        var texts = new List<string>();
        var numbers = new List<double>();
        using (var reader = command.ExecuteReader())
        {
            if (!reader.Read()) return 0;
            if (reader.GetFieldType(column) == typeof(string))
                do texts.Add(reader.GetString(column)); while (reader.Read());
            else
                do numbers.Add(reader.GetDouble(column)); while (reader.Read());
        }
        return texts.Count + numbers.Count;
    }

    static int Dropped(DbCommand command, int column)
    {
        int count = 0;
        using (var reader = command.ExecuteReader())
        {
            if (!reader.Read()) return 0;
            if (reader.GetFieldType(column) == typeof(string))
                do { reader.GetString(column); count++; } while (reader.Read());
            else
                do { reader.GetDouble(column); count++; } while (reader.Read());
        }
        return count;
    }

    // Columns as Arrow has them: whole numbers, doubles, and texts in UTF-8.
    class Table
    {
        readonly int rows;
        readonly List<Func<int, object>> columns = new List<Func<int, object>>();
        readonly List<DbType> types = new List<DbType>();

        public Table(string path)
        {
            using (var file = new BinaryReader(File.OpenRead(path)))
            {
                rows = file.ReadInt32();
                while (file.BaseStream.Position < file.BaseStream.Length)
                {
                    var kind = file.ReadChar();
                    var numbers = new long[kind == 't' ? rows + 1 : rows];
                    for (int at = 0; at < numbers.Length; at++) numbers[at] = file.ReadInt64();
                    var bytes = kind == 't' ? file.ReadBytes((int)numbers[rows]) : null;
                    types.Add(kind == 't' ? DbType.String : kind == 'd' ? DbType.Double : DbType.Int64);
                    if (kind == 't')
                        columns.Add(row => Encoding.UTF8.GetString(bytes, (int)numbers[row], (int)(numbers[row + 1] - numbers[row])));
                    else if (kind == 'd') columns.Add(row => BitConverter.Int64BitsToDouble(numbers[row]));
                    else columns.Add(row => numbers[row]);
                }
            }
        }

        public int Insert(DbCommand command)
        {
            var parameters = command.Parameters.Cast<DbParameter>().ToArray();
            for (int at = 0; at < parameters.Length; at++) parameters[at].DbType = types[at];
            for (int row = 0; row < rows; row++)
            {
                for (int at = 0; at < parameters.Length; at++) parameters[at].Value = columns[at](row);
                command.ExecuteNonQuery();
            }
            return rows;
        }
    }
}
