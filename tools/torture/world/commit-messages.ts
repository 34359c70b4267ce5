/**
 * Just enough of PostgreSQL's protocol to break a statement at its commit. Most of the gateway's statements are
 * transactions of their own, which the server commits at the `Sync` that ends their messages; few run between an
 * explicit `BEGIN` and `COMMIT`.
 */
const HEAD_BYTES = 5;
const SYNC = Buffer.from([0x53, 0, 0, 0, 4]);
const FLUSH = Buffer.from([0x48, 0, 0, 0, 4]);
/** The end of an answer inside an explicit transaction: ReadyForQuery, `T`. */
const READY_INSIDE = Buffer.from([0x5a, 0, 0, 0, 5, 0x54]);

/** Whether these are whole messages that end with a `Sync`: only such a series can be split. */
export function isSeries(chunk: Buffer): boolean {
  let at = 0;
  let lastAt = 0;
  while (at + HEAD_BYTES <= chunk.length) {
    lastAt = at;
    at += 1 + Math.max(HEAD_BYTES - 1, chunk.readUInt32BE(at + 1));
  }
  return at === chunk.length && chunk.subarray(lastAt).equals(SYNC);
}

/** The part that the server executes, and the part that makes it commit. */
export function partedAtCommit(series: Buffer): readonly [done: Buffer, commit: Buffer] {
  return [series.subarray(0, -SYNC.length), SYNC];
}

/** A series without its commit; the server still answers it. */
export function uncommitted(series: Buffer): Buffer {
  return Buffer.concat([series.subarray(0, -SYNC.length), FLUSH]);
}

/** A series with a refusal in place of its commit. */
export function refusedAtCommit(series: Buffer): Buffer {
  return Buffer.concat([series.subarray(0, -SYNC.length), refusal('40001')]);
}

/** A statement that the server refuses just as if it had met another transaction. */
export function refusal(sqlState: '40001' | '40P01'): Buffer {
  return query(raising(sqlState));
}

/** An explicit `COMMIT` that the server refuses: the transaction is rolled back, the session continues. */
export function refusedCommit(): Buffer {
  return query(`ROLLBACK; ${raising('40001')}`);
}

function raising(sqlState: string): string {
  return `DO $$ BEGIN RAISE EXCEPTION 'as planned' USING ERRCODE = '${sqlState}'; END $$`;
}

export function isCommit(chunk: Buffer): boolean {
  return chunk[0] === 0x51 && /^COMMIT;?\0$/i.test(chunk.subarray(HEAD_BYTES).toString('latin1'));
}

/** Whether an answer of the server ends inside an explicit transaction. */
export function leavesTransactionOpen(answer: Buffer): boolean {
  return answer.subarray(-READY_INSIDE.length).equals(READY_INSIDE);
}

function query(text: string): Buffer {
  const body = Buffer.from(`${text}\0`);
  const head = Buffer.alloc(HEAD_BYTES);
  head.write('Q');
  head.writeUInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
}
