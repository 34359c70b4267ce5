/**
 * As much of PostgreSQL's protocol as it takes to break a statement at its commit. The gateway's
 * statements are transactions of their own, which the server commits at the `Sync` that ends their
 * messages; few stand between a `BEGIN` and a `COMMIT` in words.
 */
const HEAD_BYTES = 5;
const SYNC = Buffer.from([0x53, 0, 0, 0, 4]);
const FLUSH = Buffer.from([0x48, 0, 0, 0, 4]);
/** The end of an answer inside a transaction that words began: ReadyForQuery, `T`. */
const READY_INSIDE = Buffer.from([0x5a, 0, 0, 0, 5, 0x54]);

/** Whether these are whole messages, the last of them a `Sync`: only such can be taken apart. */
export function isSeries(chunk: Buffer): boolean {
  let at = 0;
  let lastAt = 0;
  while (at + HEAD_BYTES <= chunk.length) {
    lastAt = at;
    at += 1 + Math.max(HEAD_BYTES - 1, chunk.readUInt32BE(at + 1));
  }
  return at === chunk.length && chunk.subarray(lastAt).equals(SYNC);
}

/** What the server does, and what makes it commit. */
export function partedAtCommit(series: Buffer): readonly [done: Buffer, commit: Buffer] {
  return [series.subarray(0, -SYNC.length), SYNC];
}

/** Everything of a series but its commit; the server answers nevertheless. */
export function uncommitted(series: Buffer): Buffer {
  return Buffer.concat([series.subarray(0, -SYNC.length), FLUSH]);
}

/** Everything of a series, and a refusal in the place of its commit. */
export function refusedAtCommit(series: Buffer): Buffer {
  return Buffer.concat([series.subarray(0, -SYNC.length), refusal('40001')]);
}

/** A statement that the server refuses in the words of one that met another transaction. */
export function refusal(sqlState: '40001' | '40P01'): Buffer {
  return query(raising(sqlState));
}

/** A `COMMIT` in words that the server refuses: the transaction is undone, the session goes on. */
export function refusedCommit(): Buffer {
  return query(`ROLLBACK; ${raising('40001')}`);
}

function raising(sqlState: string): string {
  return `DO $$ BEGIN RAISE EXCEPTION 'as planned' USING ERRCODE = '${sqlState}'; END $$`;
}

export function isCommit(chunk: Buffer): boolean {
  return chunk[0] === 0x51 && /^COMMIT;?\0$/i.test(chunk.subarray(HEAD_BYTES).toString('latin1'));
}

/** Whether an answer of the server ends inside a transaction that words began. */
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
