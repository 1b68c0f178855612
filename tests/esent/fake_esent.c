/* A stand-in with the C interface of esent.dll, as far as the plugin uses it, for the tests only.

   Records are kept in memory, sorted by their normalised keys, and written to the database's file when a commit
   waits for it or the instance ends. It answers with the errors of the real one for calls out of order, structures
   of another size, handles that are none, and records that are or aren't there. Texts are UTF-16 as on Windows. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int32_t ERR;
typedef uint64_t HANDLE;
typedef uint32_t U;
typedef const uint16_t *TEXT;

enum {
    OK = 0, OUT_OF_MEMORY = -1011, INVALID = -1003, ALREADY_INITIALIZED = -1030, NOT_INITIALIZED = -1029,
    NO_TRANSACTION = -1054, BAD_SESSION = -1104, BAD_TABLE = -1310, BAD_DATABASE = -1010, NO_TABLE = -1305,
    NO_COLUMN = -1507, TABLE_THERE = -1303, DATABASE_THERE = -1201, NO_FILE = -1811, NO_INDEX = -1404,
    NOT_FOUND = -1601, NO_RECORD = -1603, DUPLICATE = -1605, NOT_PREPARED = -1609, ALREADY_PREPARED = -1607, IN_USE = -1306,
    KEY_NOT_MADE = -1608, TOO_LONG = -346, BAD_LENGTH = -1518, NULL_KEY = -1401, TRUNCATED = 1006, NOT_EQUAL = 1039,
    IO = -1022, IN_TRANSACTION = -1108
};

typedef struct { U cbStruct, columnid, coltyp; uint16_t country, langid, cp, collate; U cbMax, grbit; } COLUMNDEF;
typedef struct {
    U columnid; void *pvData; U cbData, cbActual, grbit, ibLongValue, itagSequence, columnidNextTagged; ERR err;
} RETRIEVECOLUMN;
_Static_assert(sizeof(COLUMNDEF) == 28, "JET_COLUMNDEF has 28 bytes");
_Static_assert(sizeof(RETRIEVECOLUMN) == 48, "JET_RETRIEVECOLUMN has 48 bytes");

typedef struct { uint8_t *data; U size; } BLOB;
typedef struct { BLOB key, value; } RECORD;
typedef struct { BLOB key, before; int was_there; } UNDO;

static struct instance {
    int created, initialised, attached, table, index, sessions;
    U parameters[128];
    char folder[4096], file[4096];
    COLUMNDEF columns[2];
    RECORD *records;
    size_t count, room;
} store;
static struct session { int open, level; UNDO *undo; size_t undone, room; } sessions[64];
static struct cursor { int open; HANDLE session; BLOB at, wanted, new_key, new_value; int on, made, prep; } cursors[256];
static U page_size = 4096, cache_min, cache_max;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
#define LOCKED(body) pthread_mutex_lock(&mutex); ERR found = (body); pthread_mutex_unlock(&mutex); return found

static void ascii(TEXT text, char *to) { while ((*to++ = (char)*text++)); }
static int is(TEXT text, const char *name)
{
    char plain[4096];
    if (!text) return 0;
    ascii(text, plain);
    return !strcmp(plain, name);
}
static void put(BLOB *blob, const void *data, U size)
{
    uint8_t *made = malloc(size ? size : 1);
    if (size) memcpy(made, data, size);
    free(blob->data);
    blob->data = made;
    blob->size = size;
}
static void drop(BLOB *blob) { free(blob->data); blob->data = NULL; blob->size = 0; }
static int compare(const BLOB *one, const BLOB *other)
{
    U least = one->size < other->size ? one->size : other->size;
    int order = memcmp(one->data, other->data, least);
    return order ? order : one->size < other->size ? -1 : one->size > other->size;
}
static size_t place(const BLOB *key)
{
    size_t low = 0, high = store.count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (compare(&store.records[middle].key, key) < 0) low = middle + 1; else high = middle;
    }
    return low;
}
static int there(size_t at, const BLOB *key) { return at < store.count && !compare(&store.records[at].key, key); }

/* The number, its sign turned over and its most significant byte first; bytes as they are. And back. */
static void turned(const uint8_t *from, uint8_t *to) { for (int i = 0; i < 8; i++) to[i] = from[7 - i]; }
static ERR normal(const void *data, U size, BLOB *to)
{
    if (store.columns[0].coltyp == 5) {
        uint8_t number[8];
        if (size != 8) return BAD_LENGTH;
        turned(data, number);
        number[0] ^= 0x80;
        put(to, number, 8);
    } else {
        if (1 + (size + 7) / 8 * 9 > 255) return TOO_LONG;
        put(to, data, size);
    }
    return OK;
}

static struct session *session_of(HANDLE id) { return id >= 1 && id < 64 && sessions[id].open ? &sessions[id] : NULL; }
static struct cursor *cursor_of(HANDLE session, HANDLE id)
{
    return id >= 1000 && id < 1256 && cursors[id - 1000].open && cursors[id - 1000].session == session
               ? &cursors[id - 1000] : NULL;
}
#define SESSION(id) struct session *session = session_of(id); if (!session) return BAD_SESSION
#define CURSOR(id, table) SESSION(id); struct cursor *cursor = cursor_of(id, table); (void)session; if (!cursor) return BAD_TABLE

static ERR save(void)
{
    FILE *to;
    if (!store.attached) return OK;
    if (!(to = fopen(store.file, "wb"))) return IO;
    fwrite(store.columns, sizeof store.columns, 1, to);
    fwrite(&store.table, sizeof store.table, 1, to);
    fwrite(&store.count, sizeof store.count, 1, to);
    for (size_t at = 0; at < store.count; at++)
        for (int which = 0; which < 2; which++) {
            BLOB *blob = which ? &store.records[at].value : &store.records[at].key;
            fwrite(&blob->size, sizeof blob->size, 1, to);
            fwrite(blob->data, 1, blob->size, to);
        }
    return fclose(to) ? IO : OK;
}
static RECORD *insert(size_t at)
{
    if (store.count == store.room) {
        store.room = store.room ? 2 * store.room : 64;
        store.records = realloc(store.records, store.room * sizeof(RECORD));
    }
    memmove(&store.records[at + 1], &store.records[at], (store.count++ - at) * sizeof(RECORD));
    memset(&store.records[at], 0, sizeof(RECORD));
    return &store.records[at];
}
static void removed(size_t at)
{
    drop(&store.records[at].key);
    drop(&store.records[at].value);
    memmove(&store.records[at], &store.records[at + 1], (--store.count - at) * sizeof(RECORD));
}
static void load(FILE *from)
{
    size_t count = 0;
    int read = fread(store.columns, sizeof store.columns, 1, from) && fread(&store.table, sizeof store.table, 1, from)
               && fread(&count, sizeof count, 1, from);
    store.index = store.table;
    for (size_t at = 0; read && at < count; at++) {
        RECORD *record = insert(at);
        for (int which = 0; which < 2; which++) {
            BLOB *blob = which ? &record->value : &record->key;
            if (!fread(&blob->size, sizeof blob->size, 1, from)) return;
            blob->data = malloc(blob->size ? blob->size : 1);
            if (fread(blob->data, 1, blob->size, from) != blob->size) return;
        }
    }
}
static void remember(struct session *session, const BLOB *key, const BLOB *before)
{
    UNDO *undo;
    if (session->undone == session->room) {
        session->room = session->room ? 2 * session->room : 64;
        session->undo = realloc(session->undo, session->room * sizeof(UNDO));
    }
    undo = &session->undo[session->undone++];
    memset(undo, 0, sizeof *undo);
    put(&undo->key, key->data, key->size);
    if ((undo->was_there = before != NULL)) put(&undo->before, before->data, before->size);
}
static void forget(struct session *session)
{
    while (session->undone) {
        UNDO *undo = &session->undo[--session->undone];
        drop(&undo->key);
        drop(&undo->before);
    }
}

/* Instances. There is one at a time. */

ERR JetCreateInstance2W(HANDLE *instance, TEXT name, TEXT display, U bits)
{
    (void)display;
    if (!instance || !name || bits) return INVALID;
    if (store.created) return IN_USE;
    memset(&store, 0, sizeof store);
    store.created = 1;
    *instance = 77;
    return OK;
}
ERR JetSetSystemParameterW(HANDLE *instance, HANDLE session, U parameter, int64_t value, TEXT text)
{
    if (session || parameter >= 128) return INVALID;
    if (parameter == 64 || parameter == 23 || parameter == 60) {
        if (instance) return INVALID;
        if (parameter == 64 && store.created) return ALREADY_INITIALIZED;
        if (parameter == 64 && (value < 4096 || value > 32768 || value & (value - 1))) return INVALID;
        *(parameter == 64 ? &page_size : parameter == 23 ? &cache_max : &cache_min) = (U)value;
        return OK;
    }
    if (!instance || *instance != 77 || !store.created) return INVALID;
    if (store.initialised) return ALREADY_INITIALIZED;
    if (parameter <= 3 && !text) return INVALID;
    if (parameter == 2) ascii(text, store.folder);
    if (parameter <= 2 && store.folder[0] && store.folder[strlen(store.folder) - 1] != '/') return INVALID;
    store.parameters[parameter] = (U)value + (parameter <= 3);
    return OK;
}
ERR JetInit(HANDLE *instance)
{
    if (!instance || *instance != 77 || !store.created) return INVALID;
    if (store.initialised) return ALREADY_INITIALIZED;
    /* The published parameters: paths, logs of 16 MB, a buffer of 8 MB, a circular log, and a cache. */
    for (U path = 0; path <= 3; path++)
        if (!store.parameters[path]) return INVALID;
    if (store.parameters[11] != 16384 || store.parameters[12] != 16384 || store.parameters[17] != 1) return INVALID;
    if (!cache_max || cache_max != cache_min || page_size < 4096) return INVALID;
    store.initialised = 1;
    return OK;
}
ERR JetTerm2(HANDLE instance, U bits)
{
    ERR found = OK;
    if (instance != 77 || !store.created || bits != 1) return INVALID;
    if (store.initialised && store.sessions) return IN_USE;
    if (store.initialised) found = save();
    while (store.count) removed(store.count - 1);
    free(store.records);
    memset(&store, 0, sizeof store);
    return found;
}

/* Sessions and transactions. */

static ERR begin_session(HANDLE instance, HANDLE *id)
{
    if (instance != 77 || !store.initialised) return NOT_INITIALIZED;
    for (HANDLE at = 1; at < 64; at++)
        if (!sessions[at].open) {
            memset(&sessions[at], 0, sizeof sessions[at]);
            sessions[at].open = 1;
            store.sessions++;
            *id = at;
            return OK;
        }
    return OUT_OF_MEMORY;
}
ERR JetBeginSessionW(HANDLE instance, HANDLE *id, TEXT user, TEXT password)
{
    (void)user, (void)password;
    LOCKED(begin_session(instance, id));
}
static ERR end_session(HANDLE id, U bits)
{
    SESSION(id);
    if (bits) return INVALID;
    if (session->level) return IN_TRANSACTION;
    for (int at = 0; at < 256; at++)
        if (cursors[at].open && cursors[at].session == id) return IN_USE;
    free(session->undo);
    session->open = 0;
    store.sessions--;
    return OK;
}
ERR JetEndSession(HANDLE id, U bits) { LOCKED(end_session(id, bits)); }
ERR JetBeginTransaction(HANDLE id) { SESSION(id); session->level++; return OK; }
/* How many commits waited for the log, and how many did not. */
U fake_commits[2];
static ERR commit(HANDLE id, U bits)
{
    SESSION(id);
    if (bits == 2) return save();
    if (bits > 1) return INVALID;
    if (!session->level) return NO_TRANSACTION;
    if (--session->level) return OK;
    forget(session);
    fake_commits[bits]++;
    return bits ? OK : save();  /* the real one waits for its log; a lazy commit is written later */
}
ERR JetCommitTransaction(HANDLE id, U bits) { LOCKED(commit(id, bits)); }
static ERR rollback(HANDLE id)
{
    SESSION(id);
    if (!session->level) return NO_TRANSACTION;
    while (session->undone) {
        UNDO *undo = &session->undo[session->undone - 1];
        size_t at = place(&undo->key);
        int is_there = there(at, &undo->key);
        if (is_there && !undo->was_there) removed(at);
        if (undo->was_there) {
            if (!is_there) put(&insert(at)->key, undo->key.data, undo->key.size);
            put(&store.records[at].value, undo->before.data, undo->before.size);
        }
        session->undone--;
        drop(&undo->key);
        drop(&undo->before);
    }
    session->level--;
    return OK;
}
ERR JetRollback(HANDLE id, U bits) { (void)bits; LOCKED(rollback(id)); }

/* The database, its one table, and cursors. */

static ERR create_database(HANDLE id, TEXT name, U *database)
{
    FILE *file;
    SESSION(id);
    (void)session;
    if (store.attached) return DATABASE_THERE;
    ascii(name, store.file);
    if (strncmp(store.file, store.folder, strlen(store.folder))) return INVALID;
    if ((file = fopen(store.file, "rb"))) { fclose(file); return DATABASE_THERE; }
    store.attached = 1;
    *database = 5;
    return save();
}
ERR JetCreateDatabaseW(HANDLE id, TEXT name, TEXT connect, U *database, U bits)
{
    if (connect || bits || !database) return INVALID;
    LOCKED(create_database(id, name, database));
}
static ERR attach(HANDLE id, TEXT name)
{
    FILE *file;
    SESSION(id);
    (void)session;
    if (store.attached) return DATABASE_THERE;
    ascii(name, store.file);
    if (!(file = fopen(store.file, "rb"))) return NO_FILE;
    load(file);
    fclose(file);
    store.attached = 1;
    return OK;
}
ERR JetAttachDatabaseW(HANDLE id, TEXT name, U bits) { if (bits) return INVALID; LOCKED(attach(id, name)); }
ERR JetOpenDatabaseW(HANDLE id, TEXT name, TEXT connect, U *database, U bits)
{
    SESSION(id);
    (void)session;
    if (connect || bits || !store.attached || !is(name, store.file)) return BAD_DATABASE;
    *database = 5;
    return OK;
}
static ERR new_cursor(HANDLE id, HANDLE *table)
{
    for (int at = 0; at < 256; at++)
        if (!cursors[at].open) {
            memset(&cursors[at], 0, sizeof cursors[at]);
            cursors[at].open = 1;
            cursors[at].session = id;
            cursors[at].prep = -1;
            *table = 1000 + (HANDLE)at;
            return OK;
        }
    return OUT_OF_MEMORY;
}
static ERR create_table(HANDLE id, U database, TEXT name, HANDLE *table)
{
    SESSION(id);
    if (database != 5 || !store.attached) return BAD_DATABASE;
    if (!is(name, "records")) return INVALID;
    if (store.table) return TABLE_THERE;
    if (!session->level) return NO_TRANSACTION;
    store.table = 1;
    return new_cursor(id, table);
}
ERR JetCreateTableW(HANDLE id, U database, TEXT name, U pages, U density, HANDLE *table)
{
    (void)pages;
    if (density < 20 || density > 100) return INVALID;
    LOCKED(create_table(id, database, name, table));
}
ERR JetAddColumnW(HANDLE id, HANDLE table, TEXT name, const COLUMNDEF *column, const void *value, U size, U *number)
{
    CURSOR(id, table);
    (void)cursor;
    if (column->cbStruct != sizeof(COLUMNDEF) || column->grbit || value || size || !number) return INVALID;
    if (column->coltyp != 5 && column->coltyp != 9 && column->coltyp != 11) return INVALID;
    if (column->coltyp == 9 && column->cbMax > 255) return INVALID;
    int which = is(name, "key") ? 0 : is(name, "value") ? 1 : -1;
    if (which < 0 || store.columns[which].columnid) return INVALID;
    store.columns[which] = *column;
    *number = store.columns[which].columnid = (U)which + 1;
    return OK;
}
ERR JetCreateIndexW(HANDLE id, HANDLE table, TEXT name, U bits, TEXT keys, U size, U density)
{
    static const uint16_t wanted[] = {'+', 'k', 'e', 'y', 0, 0};
    CURSOR(id, table);
    (void)cursor;
    if (!name || size != sizeof wanted || memcmp(keys, wanted, sizeof wanted) || density < 20) return INVALID;
    if ((bits & 3) != 3 || store.count || store.index) return INVALID;
    store.index = 1;
    return OK;
}
ERR JetGetTableColumnInfoW(HANDLE id, HANDLE table, TEXT name, COLUMNDEF *column, U size, U level)
{
    CURSOR(id, table);
    (void)cursor;
    if (size != sizeof(COLUMNDEF) || level) return INVALID;
    int which = is(name, "key") ? 0 : is(name, "value") ? 1 : -1;
    if (which < 0) return NO_COLUMN;
    *column = store.columns[which];
    return OK;
}
static ERR open_table(HANDLE id, U database, TEXT name, HANDLE *table)
{
    SESSION(id);
    (void)session;
    if (database != 5) return BAD_DATABASE;
    if (!store.table || !is(name, "records")) return NO_TABLE;
    if (!store.index) return NO_INDEX;
    return new_cursor(id, table);
}
ERR JetOpenTableW(HANDLE id, U database, TEXT name, const void *given, U size, U bits, HANDLE *table)
{
    if (given || size || bits) return INVALID;
    LOCKED(open_table(id, database, name, table));
}
static ERR close_table(HANDLE id, HANDLE table)
{
    CURSOR(id, table);
    drop(&cursor->at), drop(&cursor->wanted), drop(&cursor->new_key), drop(&cursor->new_value);
    cursor->open = 0;
    return OK;
}
ERR JetCloseTable(HANDLE id, HANDLE table) { LOCKED(close_table(id, table)); }

/* Records. */

static ERR stand(struct cursor *cursor, size_t at, ERR otherwise)
{
    cursor->on = at < store.count;
    if (!cursor->on) return otherwise;
    put(&cursor->at, store.records[at].key.data, store.records[at].key.size);
    return OK;
}
static ERR prepare(HANDLE id, HANDLE table, U how)
{
    CURSOR(id, table);
    if (how == 3) {
        ERR found = cursor->prep < 0 ? NOT_PREPARED : OK;
        cursor->prep = -1;
        return found;
    }
    if (!session->level) return NO_TRANSACTION;
    if (how != 0 && how != 2) return INVALID;
    if (cursor->prep >= 0) return ALREADY_PREPARED;
    if (how == 2 && !(cursor->on && there(place(&cursor->at), &cursor->at))) return NO_RECORD;
    drop(&cursor->new_key), drop(&cursor->new_value);
    cursor->prep = (int)how;
    return OK;
}
ERR JetPrepareUpdate(HANDLE id, HANDLE table, U how) { LOCKED(prepare(id, table, how)); }
static ERR set_column(HANDLE id, HANDLE table, U column, const void *data, U size, U bits)
{
    CURSOR(id, table);
    if (cursor->prep < 0) return NOT_PREPARED;
    if (column != 1 && column != 2) return NO_COLUMN;
    if (!size && bits != 2) return OK; /* that is NULL */
    if (size && bits) return INVALID;
    if (column == 1) return cursor->prep == 0 ? normal(data, size, &cursor->new_key) : INVALID;
    if (store.columns[1].coltyp == 9 && size > store.columns[1].cbMax) return BAD_LENGTH;
    put(&cursor->new_value, data, size);
    return OK;
}
ERR JetSetColumn(HANDLE id, HANDLE table, U column, const void *data, U size, U bits, const void *how)
{
    if (how) return INVALID;
    LOCKED(set_column(id, table, column, data, size, bits));
}
static ERR update(HANDLE id, HANDLE table)
{
    CURSOR(id, table);
    size_t at;
    if (cursor->prep < 0) return NOT_PREPARED;
    if (!cursor->new_value.data) return INVALID;
    if (cursor->prep == 0) {
        if (!cursor->new_key.data) return NULL_KEY;
        at = place(&cursor->new_key);
        if (there(at, &cursor->new_key)) return DUPLICATE;
        remember(session, &cursor->new_key, NULL);
        put(&insert(at)->key, cursor->new_key.data, cursor->new_key.size);
    } else {
        at = place(&cursor->at);
        if (!there(at, &cursor->at)) return NO_RECORD;
        remember(session, &cursor->at, &store.records[at].value);
    }
    put(&store.records[at].value, cursor->new_value.data, cursor->new_value.size);
    cursor->prep = -1;
    return OK;
}
ERR JetUpdate(HANDLE id, HANDLE table, void *bookmark, U size, U *actual)
{
    if (bookmark || size || actual) return INVALID;
    LOCKED(update(id, table));
}
static ERR delete(HANDLE id, HANDLE table)
{
    CURSOR(id, table);
    size_t at;
    if (!session->level) return NO_TRANSACTION;
    if (!cursor->on) return NO_RECORD;
    at = place(&cursor->at);
    if (!there(at, &cursor->at)) return NO_RECORD;
    remember(session, &cursor->at, &store.records[at].value);
    removed(at);
    return OK;
}
ERR JetDelete(HANDLE id, HANDLE table) { LOCKED(delete(id, table)); }
ERR JetMakeKey(HANDLE id, HANDLE table, const void *data, U size, U bits)
{
    CURSOR(id, table);
    if (bits != 1) return INVALID;
    cursor->made = 1;
    return normal(data, size, &cursor->wanted);
}
static ERR seek(HANDLE id, HANDLE table, U bits)
{
    CURSOR(id, table);
    size_t at;
    ERR found;
    if (!cursor->made) return KEY_NOT_MADE;
    cursor->made = 0;
    at = place(&cursor->wanted);
    if (there(at, &cursor->wanted)) return stand(cursor, at, NOT_FOUND);
    if (bits == 8) return (found = stand(cursor, at, NOT_FOUND)) ? found : NOT_EQUAL;
    cursor->on = 0;
    return bits == 1 ? NOT_FOUND : INVALID;
}
ERR JetSeek(HANDLE id, HANDLE table, U bits) { LOCKED(seek(id, table, bits)); }
static ERR move(HANDLE id, HANDLE table, int32_t rows)
{
    CURSOR(id, table);
    if (rows == INT32_MIN) return stand(cursor, 0, NO_RECORD);
    if (rows != 1) return INVALID;
    if (!cursor->on) return NO_RECORD;
    size_t at = place(&cursor->at);
    return stand(cursor, at + (size_t)there(at, &cursor->at), NO_RECORD);
}
ERR JetMove(HANDLE id, HANDLE table, int32_t rows, U bits) { if (bits) return INVALID; LOCKED(move(id, table, rows)); }
static ERR retrieve(HANDLE id, HANDLE table, RETRIEVECOLUMN *columns, U count)
{
    CURSOR(id, table);
    ERR found = OK;
    size_t at;
    if (!cursor->on) return NO_RECORD;
    at = place(&cursor->at);
    if (!there(at, &cursor->at)) return NO_RECORD;
    for (U each = 0; each < count; each++) {
        RETRIEVECOLUMN *column = &columns[each];
        uint8_t number[8];
        BLOB from = column->columnid == 1 ? store.records[at].key : store.records[at].value;
        if (column->columnid != 1 && column->columnid != 2) return NO_COLUMN;
        if (column->itagSequence != 1 || column->grbit || column->ibLongValue) return INVALID;
        if (column->columnid == 1 && store.columns[0].coltyp == 5) {
            uint8_t plain[8];
            memcpy(plain, from.data, 8);
            plain[0] ^= 0x80;
            turned(plain, number);
            from.data = number;
        }
        column->cbActual = from.size;
        column->err = from.size > column->cbData ? TRUNCATED : OK;
        if (column->err) found = TRUNCATED;
        memcpy(column->pvData, from.data, from.size < column->cbData ? from.size : column->cbData);
    }
    return found;
}
ERR JetRetrieveColumns(HANDLE id, HANDLE table, RETRIEVECOLUMN *columns, U count) { LOCKED(retrieve(id, table, columns, count)); }
