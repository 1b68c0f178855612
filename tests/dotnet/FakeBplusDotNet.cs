// A stand-in with the interface of BplusDotNet, as far as the plugin uses it. What isn't committed is lost; what is
// committed reaches the file when its buffer is full or the tree is shut down, so that a kill loses it; text is compared as a language does until NoCulture is called; a key may have as many bytes of UTF-8 as the tree was made for.
using System;
using System.Collections.Generic;
using System.Globalization;
using System.IO;
using System.Runtime.Serialization.Formatters.Binary;

namespace BplusDotNet
{
    public class BplusTreeException : ApplicationException { public BplusTreeException(string message) : base(message) { } }

    public class BplusTreeBytes
    {
        sealed class Order : IComparer<string>
        {
            public bool Culture = true;
            public int Compare(string left, string right)
            {
                return Culture ? CultureInfo.InvariantCulture.CompareInfo.Compare(left, right) : string.CompareOrdinal(left, right);
            }
        }

        readonly FileStream values;
        readonly int keyLength;
        readonly Order order = new Order();
        readonly List<KeyValuePair<string, byte[]>> changes = new List<KeyValuePair<string, byte[]>>();
        SortedList<string, byte[]> held;

        BplusTreeBytes(string blockfile, int length)
        {
            values = new FileStream(blockfile, FileMode.Append); keyLength = length;
            held = new SortedList<string, byte[]>(order);
        }
        public static BplusTreeBytes Initialize(string treefileName, string blockfileName, int KeyLength)
        {
            var made = new BplusTreeBytes(blockfileName, KeyLength);
            using (var to = new StreamWriter(new FileStream(treefileName, FileMode.CreateNew))) to.Write(KeyLength);
            made.Commit();
            return made;
        }
        public static BplusTreeBytes Initialize(Stream treefile, Stream blockfile, int KeyLength) { throw new NotSupportedException(); }
        public static BplusTreeBytes ReOpen(string treefileName, string blockfileName)
        {
            var made = new BplusTreeBytes(blockfileName, int.Parse(File.ReadAllText(treefileName)));
            made.order.Culture = false;
            using (var from = new FileStream(blockfileName, FileMode.Open, FileAccess.Read, FileShare.ReadWrite))
                while (from.Position < from.Length)
                    foreach (var change in (KeyValuePair<string, byte[]>[])new BinaryFormatter().Deserialize(from))
                        if (change.Value != null) made.held[change.Key] = change.Value; else made.held.Remove(change.Key);
            made.order.Culture = true;
            return made;
        }
        public static BplusTreeBytes ReOpen(Stream treefile, Stream blockfile) { throw new NotSupportedException(); }
#if !OLDER
        public void NoCulture() { order.Culture = false; }
#endif
        public bool ContainsKey(string key) { return held.ContainsKey(key); }
        public object Get(string key, object defaultValue) { return held.ContainsKey(key) ? held[key] : defaultValue; }
        public byte[] this[string key]
        {
            get { return held[key]; }
            set
            {
                if (System.Text.Encoding.UTF8.GetByteCount(key) > keyLength) throw new BplusTreeException("key bytes too long");
                held[key] = value;
                changes.Add(new KeyValuePair<string, byte[]>(key, value));
            }
        }
        public void RemoveKey(string key)
        {
            if (!held.Remove(key)) throw new BplusTreeException("no such key found: " + key);
            changes.Add(new KeyValuePair<string, byte[]>(key, null));
        }
        public string FirstKey() { return held.Count > 0 ? held.Keys[0] : null; }
        public string NextKey(string after)
        {
            int low = 0, high = held.Count;
            while (low < high)
            {
                var middle = (low + high) / 2;
                if (order.Compare(held.Keys[middle], after) <= 0) low = middle + 1; else high = middle;
            }
            return low < held.Count ? held.Keys[low] : null;
        }
        public void Commit()
        {
            new BinaryFormatter().Serialize(values, changes.ToArray());
            changes.Clear();
        }
        public void Abort() { throw new NotSupportedException(); }
        public void Shutdown() { values.Dispose(); held = null; }
    }
}
