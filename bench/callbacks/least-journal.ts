import Fastify from 'fastify';
import { Client, Pool as Connections } from 'pg';
import { Pool } from 'undici';
import { z } from 'zod';
import { sign, signingKeys, verify } from '../../src/protocol/signature.ts';
import { Batcher } from '../../src/store/sql/batcher.ts';

/**
 * The least that a gateway can do for a place: verify it, commit a row, sign it anew, ask the wallet, commit the
 * outcome, answer. One narrow table without an index of its own; no sessions, no other operations of a bet, no
 * evidence, no deadline, no log. So it shows how much of the distance to the bare proxy is due to durability and
 * signatures on this machine. Arguments: the wallet's address, the database's, the secret. Prints its port.
 */

const [, , walletUrl = '', databaseUrl = '', secret = ''] = process.argv;

const CREATE = `
  CREATE TABLE least_journal (transaction_id text PRIMARY KEY, amount text NOT NULL, body bytea NOT NULL,
                              place text NOT NULL, place_time text) WITH (fillfactor = 60)`;
const BEGIN = `
  INSERT INTO least_journal (transaction_id, amount, body, place)
  SELECT u.*, 'in_flight' FROM unnest($1::text[], $2::text[], $3::bytea[]) AS u
  ON CONFLICT DO NOTHING RETURNING transaction_id`;
const FINISH = `
  UPDATE least_journal b SET place = 'accepted', place_time = u.place_time
    FROM unnest($1::text[], $2::text[]) AS u(transaction_id, place_time)
   WHERE b.transaction_id = u.transaction_id AND b.place = 'in_flight' RETURNING b.transaction_id`;

const placed = z.looseObject({ transactionId: z.string(), amount: z.number() });
const accepted = z.looseObject({ transactionId: z.string(), transactionTime: z.string() });

interface Begun {
  readonly transactionId: string;
  readonly amount: string;
  readonly body: Buffer;
}
interface Finished {
  readonly transactionId: string;
  readonly placeTime: string;
}

const database = new Connections({ connectionString: databaseUrl, max: 8 });
const wallet = new Pool(walletUrl, { connections: 256, pipelining: 1 });
const keys = signingKeys([secret]);

/** @returns for each row whether the statement wrote it */
async function write(
  name: string,
  text: string,
  ids: readonly string[],
  columns: readonly (readonly unknown[])[],
): Promise<boolean[]> {
  const query = { name, text, values: [ids, ...columns] };
  const { rows } = await database.query<{ transaction_id: string }>(query);
  const written = new Set(rows.map((row) => row.transaction_id));
  return ids.map((id) => written.has(id));
}

const BATCHING = {
  concurrency: 2,
  waitingMax: 5_000,
  isRowError: () => false,
  refused: (why: string) => new Error(why),
};
const idsOf = (rows: readonly { readonly transactionId: string }[]) =>
  rows.map(({ transactionId }) => transactionId);
const begins = new Batcher<Begun, boolean>({
  ...BATCHING,
  run: (rows) =>
    write('begin', BEGIN, idsOf(rows), [
      rows.map(({ amount }) => amount),
      rows.map(({ body }) => body),
    ]),
});
const finishes = new Batcher<Finished, boolean>({
  ...BATCHING,
  run: (rows) => write('finish', FINISH, idsOf(rows), [rows.map(({ placeTime }) => placeTime)]),
});

async function place(body: Buffer, signature: string | readonly string[] | undefined) {
  const [key] = keys;
  if (key === undefined || !verify(signature, body, keys).ok) throw new Error('not signed');
  const message = placed.parse(JSON.parse(body.toString()));
  const { transactionId } = message;
  const begun = await begins.add({ transactionId, amount: String(message.amount), body });
  if (!begun) throw new Error('known already');
  const sent = JSON.stringify({ ...message, userId: 'player', token: 'token' });
  const response = await wallet.request({
    path: '/payment/bet',
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-sign-jws': sign(sent, key) },
    body: sent,
  });
  const { transactionTime } = accepted.parse(await response.body.json());
  if (!(await finishes.add({ transactionId, placeTime: transactionTime }))) throw new Error('lost');
  return { transactionId, transactionTime };
}

const client = new Client({ connectionString: databaseUrl });
await client.connect();
await client.query(CREATE);
await client.end();

const app = Fastify({ logger: false });
app.removeAllContentTypeParsers();
app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
app.post<{ Body: Buffer }>('/payment/bet', ({ body, headers }) =>
  place(body, headers['x-sign-jws']),
);
const address = new URL(await app.listen({ host: '127.0.0.1', port: 0 }));
console.log(JSON.stringify({ port: Number(address.port) }));
process.on('SIGTERM', () => {
  void app.close().then(() => process.exit(0));
});
