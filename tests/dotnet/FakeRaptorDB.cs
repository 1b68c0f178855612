// A stand-in with the interface of RaptorDB 2, as far as the plugin uses it, and with two of its faults: Count is
// wrong, and Enumerate stops after a page. Names of files have a backslash in them, as the real one makes them.
using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Runtime.Serialization.Formatters.Binary;

namespace RaptorDB
{
    public class KeyStore<T> : IDisposable where T : IComparable<T>
    {
        const int PageItemCount = 10000;
        readonly string file;
        readonly SortedList<T, int> index = new SortedList<T, int>();
        readonly List<byte[]> records = new List<byte[]>();
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
        public bool RemoveKey(T key) { lock (index) return index.Remove(key); }
        public IEnumerable<KeyValuePair<T, int>> Enumerate(T from)
        {
            lock (index) return index.Take(PageItemCount).Where(pair => pair.Key.CompareTo(from) >= 0).ToList();
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
