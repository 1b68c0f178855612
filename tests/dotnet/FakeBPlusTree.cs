// A stand-in with the interface of CSharpTest.Net's BPlusTree, as far as the plugin uses it. It sorts in memory.
// Fastest: only Commit and Dispose write. LogFileInCache: each change is appended to a log, which the next opening reads.
// The file has nodes, and one that holds more than the options given at the next opening allow fails an assertion.
using System;
using System.Collections;
using System.Collections.Generic;
using System.IO;
using System.Linq;

namespace CSharpTest.Net.Serialization
{
    public interface ISerializer<T> { void WriteTo(T value, Stream stream); T ReadFrom(Stream stream); }

    public class PrimitiveSerializer : ISerializer<string>, ISerializer<byte[]>, ISerializer<long>, ISerializer<Guid>
    {
        static readonly PrimitiveSerializer Instance = new PrimitiveSerializer();
        public static readonly ISerializer<string> String = Instance;
        public static readonly ISerializer<byte[]> Bytes = Instance;
        public static readonly ISerializer<long> Int64 = Instance;
        public static readonly ISerializer<Guid> Guid = Instance;
        static void Put(byte[] value, Stream to)
        {
            to.Write(BitConverter.GetBytes(value.Length), 0, 4);
            to.Write(value, 0, value.Length);
        }
        static byte[] Take(Stream from)
        {
            var size = new BinaryReader(from).ReadInt32();
            return new BinaryReader(from).ReadBytes(size);
        }
        void ISerializer<byte[]>.WriteTo(byte[] value, Stream to) { Put(value, to); }
        byte[] ISerializer<byte[]>.ReadFrom(Stream from) { return Take(from); }
        void ISerializer<string>.WriteTo(string value, Stream to) { Put(System.Text.Encoding.UTF8.GetBytes(value), to); }
        string ISerializer<string>.ReadFrom(Stream from) { return System.Text.Encoding.UTF8.GetString(Take(from)); }
        void ISerializer<long>.WriteTo(long value, Stream to) { Put(BitConverter.GetBytes(value), to); }
        long ISerializer<long>.ReadFrom(Stream from) { return BitConverter.ToInt64(Take(from), 0); }
        void ISerializer<Guid>.WriteTo(Guid value, Stream to) { Put(value.ToByteArray(), to); }
        Guid ISerializer<Guid>.ReadFrom(Stream from) { return new Guid(Take(from)); }
    }
}

namespace CSharpTest.Net.Collections
{
    using CSharpTest.Net.Serialization;

    public class AssertionFailedException : Exception { public AssertionFailedException() : base("Assertion failed.") { } }

    public enum CreatePolicy { Never, Always, IfNeeded }
    public enum CachePolicy { None, All, Recent }
    public enum StoragePerformance { Fastest = 1, LogFileInCache = 2, CommitToCache = 3, LogFileNoCache = 4, CommitToDisk = 5, Default = 2 }
    public delegate TValue KeyValueUpdate<TKey, TValue>(TKey key, TValue original);

    public abstract class BPlusTreeOptions<TKey, TValue>
    {
        protected BPlusTreeOptions(ISerializer<TKey> keys, ISerializer<TValue> values, IComparer<TKey> comparer)
        {
            KeySerializer = keys; ValueSerializer = values; KeyComparer = comparer;
        }
        public ISerializer<TKey> KeySerializer { get; private set; }
        public ISerializer<TValue> ValueSerializer { get; private set; }
        public IComparer<TKey> KeyComparer { get; set; }
        public string FileName { get; set; }
        public CreatePolicy CreateFile { get; set; }
        public CachePolicy CachePolicy { get; set; }
        public int MaximumValueNodes = 8;
    }

    public class BPlusTree<TKey, TValue> : IDisposable, IDictionary<TKey, TValue>
    {
        public sealed class OptionsV2 : BPlusTreeOptions<TKey, TValue>
        {
            public OptionsV2(ISerializer<TKey> keys, ISerializer<TValue> values) : this(keys, values, Comparer<TKey>.Default) { }
            public OptionsV2(ISerializer<TKey> keys, ISerializer<TValue> values, IComparer<TKey> comparer) : base(keys, values, comparer)
            {
                StoragePerformance = StoragePerformance.Default;
            }
            public StoragePerformance StoragePerformance { get; set; }
            public OptionsV2 CalcBTreeOrder(int key, int value)
            {
                MaximumValueNodes = Math.Min(256, Math.Max(4, 4096 / (key + value)));
                return this;
            }
        }

        readonly OptionsV2 options;
        readonly SortedList<TKey, TValue> held;
        readonly FileStream log;
        bool disposed;

        public BPlusTree(OptionsV2 given) : this((BPlusTreeOptions<TKey, TValue>)given) { }
        public BPlusTree(BPlusTreeOptions<TKey, TValue> given)
        {
            options = (OptionsV2)given;
            held = new SortedList<TKey, TValue>(options.KeyComparer);
            if (!File.Exists(options.FileName) && options.CreateFile == CreatePolicy.Never)
                throw new InvalidOperationException("The file does not exist and CreateFile is Never");
            var name = Path.ChangeExtension(options.FileName, ".tlog");
            if (File.Exists(options.FileName)) ReadNodes();
            if (File.Exists(name))
                using (var file = File.OpenRead(name))
                    while (file.Position < file.Length) Read(file);
            if (options.StoragePerformance == StoragePerformance.LogFileInCache)
                (log = new FileStream(name, FileMode.OpenOrCreate)).Seek(0, SeekOrigin.End);
            else if (options.StoragePerformance != StoragePerformance.Fastest && options.StoragePerformance != StoragePerformance.CommitToCache)
                throw new NotSupportedException(options.StoragePerformance.ToString());
        }

        void ReadNodes()
        {
            using (var file = File.OpenRead(options.FileName))
                while (file.Position < file.Length)
                {
                    var count = new BinaryReader(file).ReadInt32();
                    if (count > options.MaximumValueNodes) throw new AssertionFailedException();
                    while (count-- > 0) Read(file);
                }
        }

        void Read(Stream from)
        {
            var there = from.ReadByte() == 1;
            var key = options.KeySerializer.ReadFrom(from);
            if (there) held[key] = options.ValueSerializer.ReadFrom(from); else held.Remove(key);
        }

        void Write(Stream to, TKey key, TValue value, bool there)
        {
            to.WriteByte((byte)(there ? 1 : 0));
            options.KeySerializer.WriteTo(key, to);
            if (there) options.ValueSerializer.WriteTo(value, to);
        }

        bool Changed(TKey key, TValue value, bool there)
        {
            if (there) held[key] = value; else held.Remove(key);
            if (log != null) { Write(log, key, value, there); log.Flush(); }
            if (options.StoragePerformance == StoragePerformance.CommitToCache) Commit();
            return true;
        }

        public bool TryAdd(TKey key, TValue value) { lock (held) return !held.ContainsKey(key) && Changed(key, value, true); }
        public bool TryAdd(TKey key, Converter<TKey, TValue> create) { lock (held) return TryAdd(key, create(key)); }
        public bool TryUpdate(TKey key, TValue value) { lock (held) return held.ContainsKey(key) && Changed(key, value, true); }
        public bool TryUpdate(TKey key, KeyValueUpdate<TKey, TValue> update) { lock (held) return TryUpdate(key, update(key, held[key])); }
        public bool Remove(TKey key) { lock (held) return held.ContainsKey(key) && Changed(key, default(TValue), false); }
        public bool TryGetValue(TKey key, out TValue value) { lock (held) return held.TryGetValue(key, out value); }
        public TValue this[TKey key] { get { lock (held) return held[key]; } set { lock (held) Changed(key, value, true); } }

        public IEnumerable<KeyValuePair<TKey, TValue>> EnumerateFrom(TKey start)
        {
            lock (held)
            {
                var keys = held.Keys;
                int low = 0, high = keys.Count;
                while (low < high)
                {
                    var middle = (low + high) / 2;
                    if (options.KeyComparer.Compare(keys[middle], start) < 0) low = middle + 1; else high = middle;
                }
                return Enumerable.Range(low, keys.Count - low).Select(at => new KeyValuePair<TKey, TValue>(keys[at], held.Values[at]));
            }
        }
        public IEnumerator<KeyValuePair<TKey, TValue>> GetEnumerator() { lock (held) return held.ToList().GetEnumerator(); }
        IEnumerator IEnumerable.GetEnumerator() { return GetEnumerator(); }

        public void Commit()
        {
            lock (held)
            {
                using (var file = File.Create(options.FileName))
                    for (var at = 0; at < held.Count; at += options.MaximumValueNodes)
                    {
                        var node = held.Skip(at).Take(options.MaximumValueNodes).ToList();
                        file.Write(BitConverter.GetBytes(node.Count), 0, 4);
                        foreach (var pair in node) Write(file, pair.Key, pair.Value, true);
                    }
                if (log != null) log.SetLength(0);
            }
        }
        public void Dispose()
        {
            if (disposed) return;
            Commit();
            if (log != null) log.Dispose();
            disposed = true;
        }

        public int Count { get { return int.MinValue; } }  // as the real one, until EnableCount
        public bool IsReadOnly { get { return false; } }
        public ICollection<TKey> Keys { get { throw new NotSupportedException(); } }
        public ICollection<TValue> Values { get { throw new NotSupportedException(); } }
        public bool ContainsKey(TKey key) { lock (held) return held.ContainsKey(key); }
        public void Add(TKey key, TValue value) { if (!TryAdd(key, value)) throw new ArgumentException("The key is there"); }
        public void Clear() { throw new NotSupportedException(); }
        void ICollection<KeyValuePair<TKey, TValue>>.Add(KeyValuePair<TKey, TValue> item) { Add(item.Key, item.Value); }
        bool ICollection<KeyValuePair<TKey, TValue>>.Contains(KeyValuePair<TKey, TValue> item) { return ContainsKey(item.Key); }
        void ICollection<KeyValuePair<TKey, TValue>>.CopyTo(KeyValuePair<TKey, TValue>[] to, int at) { throw new NotSupportedException(); }
        bool ICollection<KeyValuePair<TKey, TValue>>.Remove(KeyValuePair<TKey, TValue> item) { return Remove(item.Key); }
    }
}
