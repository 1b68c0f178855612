// A stand-in with the interface of RaptorDB 1.8, as far as the plugin uses it, and as unkind: records reach the index by
// SaveIndex only, a log is not written over, Get is not locked, and Shutdown saves nothing. Names of files have a
// backslash in them, as the original makes them.
using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Runtime.Serialization.Formatters.Binary;
using System.Threading;

namespace RaptorDB
{
    public enum INDEXTYPE { BTREE = 0, HASH = 1 }

    public class rdbByteArray : IEquatable<rdbByteArray>, IComparable<rdbByteArray>
    {
        public byte[] val;
        public rdbByteArray() { }
        public rdbByteArray(byte[] key) { val = key; }
        public bool Equals(rdbByteArray other) { return val.SequenceEqual(other.val); }
        public int CompareTo(rdbByteArray other) { throw new NotSupportedException(); }
        public override int GetHashCode() { return val.Aggregate(17, (sum, one) => 31 * sum + one); }
    }

    public class RaptorDB<T> : IDisposable where T : class
    {
        readonly Dictionary<T, byte[]> held = new Dictionary<T, byte[]>();
        readonly string name;
        readonly int longest;
        int log, reading;

        RaptorDB(string path, byte maxKeySize)
        {
            longest = maxKeySize;
            name = Path.GetDirectoryName(path) + "\\" + Path.GetFileNameWithoutExtension(path);
            if (File.Exists(name + ".mgdat"))
                using (var from = File.OpenRead(name + ".mgdat"))
                    foreach (var pair in (KeyValuePair<byte[], byte[]>[])new BinaryFormatter().Deserialize(from))
                        held[(T)(object)new rdbByteArray(pair.Key)] = pair.Value;
            StartLog();
        }
        public static RaptorDB<T> Open(string path, byte maxKeySize, bool allowDuplicateKeys, INDEXTYPE type)
        {
            if (allowDuplicateKeys || type != INDEXTYPE.BTREE) throw new NotSupportedException();
            return new RaptorDB<T>(path, maxKeySize);
        }
        void StartLog() { new FileStream(name + ".mglog" + log++.ToString("000000"), FileMode.CreateNew).Dispose(); }
        public bool Set(T key, byte[] value)
        {
            if (((rdbByteArray)(object)key).val.Length > longest) throw new ArgumentException("key too long");
            lock (held) held[key] = value;
            return true;
        }
        public bool Get(T key, out byte[] value)
        {
            if (Interlocked.Increment(ref reading) > 1) throw new Exception("data header error");
            Thread.Yield();  // so that another gets in here
            try { lock (held) return held.TryGetValue(key, out value); }
            finally { Interlocked.Decrement(ref reading); }
        }
        public void SaveIndex()
        {
            StartLog();
            lock (held)
                using (var to = File.Create(name + ".mgdat"))
                    new BinaryFormatter().Serialize(to, held.Select(pair => new KeyValuePair<byte[], byte[]>(((rdbByteArray)(object)pair.Key).val, pair.Value)).ToArray());
        }
        public void Shutdown() { }
        public void Dispose() { }
    }
}
