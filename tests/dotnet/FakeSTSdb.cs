// A stand-in with the interface of STSdb 4, as far as the plugin uses it. What isn't committed is lost; what is
// committed reaches the file when its buffer is full or the engine is closed, so that a kill loses it.
using System;
using System.Collections;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Runtime.Serialization.Formatters.Binary;

namespace STSdb4.Database
{
    public interface ITable { }

    public interface ITable<TKey, TRecord> : ITable, IEnumerable<KeyValuePair<TKey, TRecord>>
    {
        void Replace(TKey key, TRecord record);
        void Delete(TKey key);
        void Delete(TKey fromKey, TKey toKey);
        bool TryGet(TKey key, out TRecord record);
        IEnumerable<KeyValuePair<TKey, TRecord>> Forward();
        IEnumerable<KeyValuePair<TKey, TRecord>> Forward(TKey from, bool hasFrom, TKey to, bool hasTo);
    }

    public interface IStorageEngine : IDisposable
    {
        ITable<TKey, TRecord> OpenXTable<TKey, TRecord>(string name);
        void Commit();
        void Close();
    }

    public static class STSdb
    {
        public static IStorageEngine FromFile(string fileName) { return new Engine(fileName); }
    }

    interface IKept { object Changes(); }

    sealed class Engine : IStorageEngine
    {
        const int Header = 512;
        readonly FileStream file;
        IKept table;
        public Engine(string name)
        {
            file = new FileStream(name, FileMode.OpenOrCreate);
            if (file.Length == 0) file.SetLength(Header);
        }
        ITable<TKey, TRecord> IStorageEngine.OpenXTable<TKey, TRecord>(string name)
        {
#if UNPATCHED
            throw new TypeInitializationException("STSdb4.Database.OrderedSetPersist", new ArgumentException("Expression must be writeable"));
#else
            var made = new Table<TKey, TRecord>();
            file.Position = Header;
            while (file.Position < file.Length) made.Apply((KeyValuePair<TKey, TRecord>[])new BinaryFormatter().Deserialize(file));
            table = made;
            return made;
#endif
        }
        void IStorageEngine.Commit()
        {
            lock (this) new BinaryFormatter().Serialize(file, table.Changes());
        }
        void IStorageEngine.Close() { file.Dispose(); table = null; }
        void IDisposable.Dispose() { file.Dispose(); table = null; }
    }

    sealed class ByBytes<T> : IComparer<T>
    {
        public int Compare(T left, T right)
        {
            var one = left as byte[];
            if (one == null) return Comparer<T>.Default.Compare(left, right);
            var other = (byte[])(object)right;
            for (var at = 0; at < Math.Min(one.Length, other.Length); at++)
                if (one[at] != other[at]) return one[at].CompareTo(other[at]);
            return one.Length.CompareTo(other.Length);
        }
    }

    sealed class Table<TKey, TRecord> : ITable<TKey, TRecord>, IKept
    {
        static readonly IComparer<TKey> Order = new ByBytes<TKey>();
        public readonly SortedList<TKey, TRecord> held = new SortedList<TKey, TRecord>(Order);
        List<KeyValuePair<TKey, TRecord>> changes = new List<KeyValuePair<TKey, TRecord>>();  // null: deleted
        object IKept.Changes()
        {
            lock (held)
            {
                var all = changes.ToArray();
                changes.Clear();
                return all;
            }
        }
        public void Apply(params KeyValuePair<TKey, TRecord>[] all)
        {
            lock (held)
                foreach (var pair in all)
                    if (pair.Value != null) held[pair.Key] = pair.Value; else held.Remove(pair.Key);
        }
        void Change(TKey key, TRecord record)
        {
            lock (held)
            {
#if UNSORTED
                if (held.Count > 0 && Order.Compare(key, held.Keys[held.Count - 1]) < 0) throw new ArgumentException("'IsRed' is not a member of type 'Node'");
#endif
                changes.Add(new KeyValuePair<TKey, TRecord>(key, record));
                Apply(changes[changes.Count - 1]);
            }
        }
        void ITable<TKey, TRecord>.Replace(TKey key, TRecord record) { Change(key, record); }
        void ITable<TKey, TRecord>.Delete(TKey key) { Change(key, default(TRecord)); }
        void ITable<TKey, TRecord>.Delete(TKey fromKey, TKey toKey) { throw new NotSupportedException(); }
        bool ITable<TKey, TRecord>.TryGet(TKey key, out TRecord record) { lock (held) return held.TryGetValue(key, out record); }
        IEnumerable<KeyValuePair<TKey, TRecord>> ITable<TKey, TRecord>.Forward() { lock (held) return held.ToList(); }
        IEnumerable<KeyValuePair<TKey, TRecord>> ITable<TKey, TRecord>.Forward(TKey from, bool hasFrom, TKey to, bool hasTo)
        {
            if (hasTo) throw new NotSupportedException();
            lock (held) return held.SkipWhile(pair => hasFrom && Order.Compare(pair.Key, from) < 0).ToList();
        }
        public IEnumerator<KeyValuePair<TKey, TRecord>> GetEnumerator() { return held.ToList().GetEnumerator(); }
        IEnumerator IEnumerable.GetEnumerator() { return GetEnumerator(); }
    }
}
