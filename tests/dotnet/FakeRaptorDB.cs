// A stand-in with the interface of RaptorDB 2, as far as the plugin uses it, and as unkind as version 2.3: Count is
// wrong, Enumerate throws where its start is no stored key and stops at the end of a page, and RemoveKey is not locked.
// Names of files have a backslash in them, as the original makes them.
using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Runtime.Serialization.Formatters.Binary;
using System.Threading;

namespace RaptorDB
{
    public class KeyStore<T> : IDisposable where T : IComparable<T>
    {
        const int PageItemCount = 5000;  // of 10,000, which a full page is split into two of
        readonly string file;
        readonly SortedList<T, int> index = new SortedList<T, int>();
        readonly List<byte[]> records = new List<byte[]>();
        int removing;
        bool closed;

        public KeyStore(string filename, bool allowDuplicateKeys)
        {
            if (allowDuplicateKeys) throw new NotSupportedException();
            var path = Path.GetDirectoryName(filename);
            Directory.CreateDirectory(path);
            file = path + "\\" + Path.GetFileNameWithoutExtension(filename) + ".mgdat";
            if (!File.Exists(file)) return;
            using (var from = File.OpenRead(file))
                foreach (var pair in (KeyValuePair<T, byte[]>[])new BinaryFormatter().Deserialize(from)) Set(pair.Key, pair.Value);
        }
        public bool Set(T key, string value) { return Set(key, System.Text.Encoding.Unicode.GetBytes(value)); }
        public bool Set(T key, byte[] value)
        {
#if BROKEN
            if (records.Count == 500) throw new InvalidDataException("broken at 500\nand a second line");
#endif
#if FORGETFUL
            if (records.Count == 500) { records.Add(value); return true; }
#endif
            lock (index) { records.Add(value); index[key] = records.Count - 1; }
            return true;
        }
        public bool Get(T key, out string value) { throw new NotSupportedException(); }
        public bool Get(T key, out byte[] value)
        {
            int at;
            lock (index)
            {
                var found = index.TryGetValue(key, out at);
                value = found ? records[at] : null;
                return found;
            }
        }
        public bool RemoveKey(T key)
        {
            if (Interlocked.Increment(ref removing) > 1) throw new IndexOutOfRangeException("two threads in RemoveKey");
            Thread.Yield();  // so that another gets in here
            try { lock (index) return index.Remove(key); }
            finally { Interlocked.Decrement(ref removing); }
        }
        public IEnumerable<KeyValuePair<T, int>> Enumerate(T from)
        {
            lock (index)
            {
                var at = index.IndexOfKey(from);
                if (at < 0) throw new IndexOutOfRangeException();
                return index.Skip(at).Take(PageItemCount - at % PageItemCount).ToList();
            }
        }
        public byte[] FetchRecordBytes(int record) { lock (index) return records[record]; }
        public long Count(bool includeDuplicates) { return index.Count + 1; }
        public void SaveIndex()
        {
            lock (index)
                using (var to = File.Create(file))
                    new BinaryFormatter().Serialize(to, index.Select(pair => new KeyValuePair<T, byte[]>(pair.Key, records[pair.Value])).ToArray());
        }
        public void Shutdown() { if (!closed) SaveIndex(); closed = true; }
        public void Dispose() { Shutdown(); }
    }

    public class RaptorDB<T> : KeyStore<T> where T : IComparable<T>
    {
        public RaptorDB(string filename, bool allowDuplicateKeys) : base(filename, allowDuplicateKeys) { }
        public static RaptorDB<T> Open(string filename, bool allowDuplicateKeys) { return new RaptorDB<T>(filename, allowDuplicateKeys); }
        public static RaptorDB<T> Open(string filename, byte maxKeySize, bool allowDuplicateKeys) { throw new NotSupportedException(); }
    }
}
