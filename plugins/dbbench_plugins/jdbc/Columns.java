import java.io.ByteArrayOutputStream;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.sql.Date;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Timestamp;
import java.sql.Types;

/**
 * Rows of a ResultSet into arrays, and arrays into the parameters of a PreparedStatement, many rows in one call.
 *
 * <p>There is an array for each column, and a letter that says what is in it: i whole numbers (long[]), d
 * floating-point numbers (double[]), t moments and D dates (long[], microseconds since 1970 in UTC, which must be the
 * JVM's time zone), n decimals as text and s text (String[]), b bytes (byte[][]).
 *
 * <p>Columns.class is made from this by {@code javac --release 11 Columns.java}; a test makes it again and compares.
 */
public final class Columns {
    private static final long MICROSECONDS = 1_000_000;

    private Columns() {}

    /** Up to `most` rows into `columns`; what was null is noted in `nulls`. Returns how many there were. */
    public static int read(ResultSet rows, int most, String kinds, Object[] columns, boolean[][] nulls)
            throws SQLException {
        int row = 0;
        for (; row < most && rows.next(); row++) {
            for (int c = 0; c < columns.length; c++) {
                switch (kinds.charAt(c)) {
                    case 'i': ((long[]) columns[c])[row] = rows.getLong(c + 1); break;
                    case 'd': ((double[]) columns[c])[row] = rows.getDouble(c + 1); break;
                    case 't': ((long[]) columns[c])[row] = microseconds(rows.getTimestamp(c + 1)); break;
                    case 'b': ((byte[][]) columns[c])[row] = rows.getBytes(c + 1); break;
                    default: ((String[]) columns[c])[row] = rows.getString(c + 1);
                }
                nulls[c][row] = rows.wasNull();
            }
        }
        return row;
    }

    /** Insert `count` rows, as a batch. `nulls` has an array for each column in which some are null, else null. */
    public static void write(
            PreparedStatement statement, int count, String kinds, Object[] columns, boolean[][] nulls)
            throws SQLException {
        for (int row = 0; row < count; row++) {
            for (int c = 0; c < columns.length; c++) {
                if (nulls[c] != null && nulls[c][row]) {
                    statement.setNull(c + 1, type(kinds.charAt(c)));
                    continue;
                }
                switch (kinds.charAt(c)) {
                    case 'i': statement.setLong(c + 1, ((long[]) columns[c])[row]); break;
                    case 'd': statement.setDouble(c + 1, ((double[]) columns[c])[row]); break;
                    case 't': statement.setTimestamp(c + 1, moment(((long[]) columns[c])[row])); break;
                    case 'D': statement.setDate(c + 1, new Date(((long[]) columns[c])[row] / 1000)); break;
                    case 'n': statement.setBigDecimal(c + 1, new BigDecimal(((String[]) columns[c])[row])); break;
                    case 'b': statement.setBytes(c + 1, ((byte[][]) columns[c])[row]); break;
                    default: statement.setString(c + 1, ((String[]) columns[c])[row]);
                }
            }
            statement.addBatch();
        }
        statement.executeBatch();
    }

    private static int type(char kind) {
        switch (kind) {
            case 'i': return Types.BIGINT;
            case 'd': return Types.DOUBLE;
            case 't': return Types.TIMESTAMP;
            case 'D': return Types.DATE;
            case 'n': return Types.DECIMAL;
            case 'b': return Types.VARBINARY;
            default: return Types.VARCHAR;
        }
    }

    /** Texts as one text in UTF-8, with a NUL between two; a null is an empty one. */
    public static byte[] join(String[] column, int count) {
        StringBuilder joined = new StringBuilder();
        for (int row = 0; row < count; row++) {
            if (row > 0) {
                joined.append('\0');
            }
            if (column[row] != null) {
                joined.append(column[row]);
            }
        }
        return joined.toString().getBytes(StandardCharsets.UTF_8);
    }

    /** Bytes as one run of them; `ends` says where each ends. A null is an empty one. */
    public static byte[] join(byte[][] column, int count, int[] ends) {
        ByteArrayOutputStream joined = new ByteArrayOutputStream();
        for (int row = 0; row < count; row++) {
            if (column[row] != null) {
                joined.write(column[row], 0, column[row].length);
            }
            ends[row] = joined.size();
        }
        return joined.toByteArray();
    }

    /** Texts out of one run of UTF-8: each from one of the `offsets` to the next. */
    public static String[] texts(byte[] data, int[] offsets) {
        String[] column = new String[offsets.length - 1];
        for (int row = 0; row < column.length; row++) {
            int length = offsets[row + 1] - offsets[row];
            column[row] = new String(data, offsets[row], length, StandardCharsets.UTF_8);
        }
        return column;
    }

    /** Bytes out of one run of them, likewise. */
    public static byte[][] slices(byte[] data, int[] offsets) {
        byte[][] column = new byte[offsets.length - 1][];
        for (int row = 0; row < column.length; row++) {
            column[row] = java.util.Arrays.copyOfRange(data, offsets[row], offsets[row + 1]);
        }
        return column;
    }

    private static long microseconds(Timestamp moment) {
        if (moment == null) {
            return 0;
        }
        return Math.floorDiv(moment.getTime(), 1000L) * MICROSECONDS + moment.getNanos() / 1000;
    }

    private static Timestamp moment(long microseconds) {
        Timestamp moment = new Timestamp(Math.floorDiv(microseconds, MICROSECONDS) * 1000);
        moment.setNanos((int) Math.floorMod(microseconds, MICROSECONDS) * 1000);
        return moment;
    }
}
