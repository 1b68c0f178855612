// Stand-ins with the interfaces of RaptorDB 2 and, where RAPTORDB1 is defined, RaptorDB 1.8, as far as the plugins use them,
// and as unkind. RemoveKey of 2.3 is not locked. Records of 1.8 reach the index by SaveIndex only, a log is not written
// over, Get is not locked, and Shutdown saves nothing. Names of files have a backslash in them, as the originals make them.
using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Runtime.Serialization.Formatters.Binary;
using System.Threading;

namespace RaptorDB
{
    public class Store
    {
        protected readonly Dictionary<object, byte[]> held = new Dictionary<object, byte[]>();
        protected readonly string name;
        int inside;

        protected Store(string path)
        {
            Directory.CreateDirectory(Path.GetDirectoryName(path));
            name = Path.GetDirectoryName(path) + "\\" + Path.GetFileNameWithoutExtension(path);
            if (!File.Exists(name + ".mgdat")) return;
            using (var from = File.OpenRead(name + ".mgdat"))
                held = (Dictionary<object, byte[]>)new BinaryFormatter().Deserialize(from);
        }
        protected void Save()
        {
            lock (held) using (var to = File.Create(name + ".mgdat")) new BinaryFormatter().Serialize(to, held);
        }
        protected bool Unlocked(Func<bool> action, string told)
        {
            if (Interlocked.Increment(ref inside) > 1) throw new Exception(told);
            Thread.Yield();  // so that another gets in here
            try { lock (held) return action(); }
            finally { Interlocked.Decrement(ref inside); }
        }
    }

#if RAPTORDB1
    public enum INDEXTYPE { BTREE = 0, HASH = 1 }

    [Serializable]
    public class rdbByteArray : IEquatable<rdbByteArray>, IComparable<rdbByteArray>
    {
        public byte[] val;
        public rdbByteArray() { }
        public rdbByteArray(byte[] key) { val = key; }
        public bool Equals(rdbByteArray other) { return val.SequenceEqual(other.val); }
        public override bool Equals(object other) { return Equals((rdbByteArray)other); }
        public int CompareTo(rdbByteArray other) { throw new NotSupportedException(); }
        public override int GetHashCode() { return val.Aggregate(17, (sum, one) => 31 * sum + one); }
    }

    public class RaptorDB<T> : Store where T : class
    {
        readonly int longest;
        int log;

        RaptorDB(string path, byte maxKeySize) : base(path)
        {
            longest = maxKeySize;
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
            byte[] found = null;
            var there = Unlocked(() => held.TryGetValue(key, out found), "data header error");
            value = found;
            return there;
        }
        public void SaveIndex()
        {
            StartLog();
            Save();
        }
        public void Shutdown() { }
    }
#else
    public class RaptorDB<T> : Store where T : IComparable<T>
    {
        RaptorDB(string path) : base(path) { }
        public static RaptorDB<T> Open(string path, bool allowDuplicateKeys)
        {
            if (allowDuplicateKeys) throw new NotSupportedException();
            return new RaptorDB<T>(path);
        }
        public static RaptorDB<T> Open(string path, byte maxKeySize, bool allowDuplicateKeys) { throw new NotSupportedException(); }
        public bool Set(T key, string value) { throw new NotSupportedException(); }
        public bool Set(T key, byte[] value)
        {
#if BROKEN
            if (held.Count == 500) throw new InvalidDataException("broken at 500\nand a second line");
#endif
#if FORGETFUL
            if (held.Count == 500) { held[new object()] = value; return true; }
#endif
            lock (held) held[key] = value;
            return true;
        }
        public bool Get(T key, out string value) { throw new NotSupportedException(); }
        public bool Get(T key, out byte[] value) { lock (held) return held.TryGetValue(key, out value); }
        public bool RemoveKey(T key) { return Unlocked(() => held.Remove(key), "two threads in RemoveKey"); }
        public void SaveIndex() { Save(); }
        public void Shutdown() { Save(); }
    }
#endif
}
