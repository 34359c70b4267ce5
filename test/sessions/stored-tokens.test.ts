import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { placedBet } from '../support/bet.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { onServer } from '../support/server.ts';

/** Every value of every column of these tables as bytes, whatever its type. */
async function rowsAsBytes(
  gateway: TestGateway,
  which: 'sessions' | 'all tables',
): Promise<readonly Buffer[]> {
  return await onServer(gateway.databaseUrl, async (client) => {
    const columns = await client.query<{ table: string; name: string; type: string }>(
      `SELECT table_name AS table, column_name AS name, data_type AS type
         FROM information_schema.columns
        WHERE table_schema = 'public' AND ($1 = 'all tables' OR table_name = $1)`,
      [which],
    );
    const values: Buffer[] = [];
    for (const { table, name, type } of columns.rows) {
      const bytes = type === 'bytea' ? `"${name}"` : `convert_to("${name}"::text, 'UTF8')`;
      const { rows } = await client.query({
        text: `SELECT ${bytes} FROM "${table}"`,
        rowMode: 'array',
      });
      values.push(...rows.flat().filter((value): value is Buffer => Buffer.isBuffer(value)));
    }
    return values;
  });
}

/** Every key and value of the gateway's Redis. */
async function redisAsBytes(gateway: TestGateway): Promise<readonly Buffer[]> {
  const redis = new Redis(gateway.redisUrl);
  try {
    const keys = await redis.keys('*');
    const values = await Promise.all(keys.map((key) => valuesAt(redis, key)));
    return [...keys.map((key) => Buffer.from(key)), ...values.flat()];
  } finally {
    redis.disconnect();
  }
}

/** The values of one key, whatever its type: the queue of deliveries has keys of most types. */
async function valuesAt(redis: Redis, key: string): Promise<readonly Buffer[]> {
  const type = await redis.type(key);
  switch (type) {
    case 'none':
      return [];
    case 'string': {
      const value = await redis.getBuffer(key);
      return value === null ? [] : [value];
    }
    case 'hash':
      return Object.entries(await redis.hgetallBuffer(key)).flatMap(([field, value]) => [
        Buffer.from(field),
        value,
      ]);
    case 'list':
      return await redis.lrangeBuffer(key, 0, -1);
    case 'set':
      return await redis.smembersBuffer(key);
    case 'zset':
      return await redis.zrangeBuffer(key, '0', '-1');
    case 'stream':
      return (await redis.xrangeBuffer(key, '-', '+')).flatMap(([id, fields]) => [id, ...fields]);
    default:
      throw new Error(`${key} is a ${type}: read it here as well`);
  }
}

/** As it is, and in the encodings of storage and JSON. */
const forms = (secret: string) => [
  Buffer.from(secret),
  Buffer.from(Buffer.from(secret).toString('hex')),
  Buffer.from(Buffer.from(secret).toString('base64').replace(/=+$/, '')),
];

const holds = (stored: readonly Buffer[], secret: string) =>
  stored.some((value) => forms(secret).some((form) => value.includes(form)));

async function useSession(gateway: TestGateway) {
  const bet = await placedBet(gateway);
  await gateway.service.profile(bet.player.token);
  await gateway.service.balance(bet.player);
  await bet.update('1.5');
  await bet.settle('10', 'cashout', bet.player.token);
  await bet.rollback();
  return bet.player;
}

describe('with ENCRYPTION_KEY', () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await startTestGateway({
      operators: { alpha: {}, beta: { sessions: { mode: 'prefixed' } } },
    });
  });
  afterAll(() => gateway.close());

  it('an issued token is nowhere in its session’s row, and neither is the operator’s', async () => {
    const { token, operatorToken } = await useSession(gateway);
    const stored = await rowsAsBytes(gateway, 'sessions');
    expect(stored.length).toBeGreaterThan(5);
    expect(holds(stored, token)).toBe(false);
    expect(holds(stored, operatorToken)).toBe(false);
  });

  it('none is in any other row either: not in the messages that the journal keeps', async () => {
    const { token, operatorToken } = await useSession(gateway);
    const stored = await rowsAsBytes(gateway, 'all tables');
    expect(stored.some((value) => value.includes('"resultType":"cashout"'))).toBe(true);
    expect(holds(stored, token)).toBe(false);
    expect(holds(stored, operatorToken)).toBe(false);
  });

  it('Redis holds neither', async () => {
    const { token, operatorToken } = await useSession(gateway);
    const stored = await redisAsBytes(gateway);
    expect(stored.some((value) => value.includes('session:'))).toBe(true);
    expect(holds(stored, token)).toBe(false);
    expect(holds(stored, operatorToken)).toBe(false);
  });
});

describe('without ENCRYPTION_KEY', () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await startTestGateway({ env: { ENCRYPTION_KEY: '' } });
  });
  afterAll(() => gateway.close());

  it('an issued token is stored beside its hash, so that it can be given again', async () => {
    const player = await useSession(gateway);
    expect(holds(await rowsAsBytes(gateway, 'sessions'), player.token)).toBe(true);
    const { user: operatorUser, currency, operatorToken } = player;
    const request = { operatorUser, currency, operatorToken };
    const again = await gateway.operator('alpha').openSession(request);
    expect(again.session?.token).toBe(player.token);
  });

  it('is never given to another session, even if it was copied into that row (I8)', async () => {
    const open = (operatorUser: string) =>
      gateway.operator('alpha').openSession({
        operatorUser,
        currency: 'USD',
        operatorToken: `own-token-of-${operatorUser}`,
      });
    const [eve, jane] = [await open('eve'), await open('jane')];
    await onServer(gateway.databaseUrl, (client) =>
      client.query(`UPDATE sessions SET token = $1 WHERE token = $2`, [
        jane.session?.token,
        eve.session?.token,
      ]),
    );
    expect((await open('eve')).session?.token).not.toBe(jane.session?.token);
  });
});
