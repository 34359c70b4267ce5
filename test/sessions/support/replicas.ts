import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach } from 'vitest';
import { readEncryptionKeys } from '../../../src/config/environment/encryption-keys.ts';
import type { BetOwner } from '../../../src/domain/bet.ts';
import { type Clock, systemClock } from '../../../src/domain/clock.ts';
import { Accelerator } from '../../../src/redis/accelerator.ts';
import { SessionCache } from '../../../src/sessions/session-cache.ts';
import { Sessions } from '../../../src/sessions/sessions.ts';
import { TokenVault } from '../../../src/sessions/token-vault.ts';
import { Database } from '../../../src/store/database.ts';
import { Players } from '../../../src/store/sessions/players.ts';
import { SessionStore } from '../../../src/store/sessions/session-store.ts';
import { createDatabase, type TestDatabase } from '../../support/database.ts';
import { sharedRedis } from '../../support/redis.ts';
import { startTcpProxy, type TcpProxy } from '../../support/tcp-proxy.ts';

const logger = pino({ level: 'silent' });

export const KEY = base64Key(7);

/** 32 equal bytes as base64. */
export function base64Key(byte: number): string {
  return Buffer.alloc(32, byte).toString('base64');
}

let testDatabase: TestDatabase;

export const databaseUrl = () => testDatabase.url;

export let database: Database;

export let accelerator: Accelerator;

/** A proxy in front of the same Redis, and a connection through it. */
export let proxy: TcpProxy;

export let throughProxy: Accelerator;

export let owner: BetOwner;

/** The number of players so far; one for each test. */
export let players = 0;

/** Opens and closes them with the test file. */
export function useReplicas(): void {
  beforeAll(async () => {
    testDatabase = await createDatabase();
    database = new Database({
      url: testDatabase.url,
      connectionsMax: 4,
      onIdleError: () => undefined,
    });
    const { url } = await sharedRedis();
    accelerator = await connect(url);
    proxy = await startTcpProxy(url);
    throughProxy = await connect(proxy.through(url));
  });

  afterAll(async () => {
    throughProxy.close();
    await proxy.close();
    accelerator.close();
    await database.close();
    await testDatabase.drop();
  });

  beforeEach(async () => {
    players += 1;
    owner = await new Players(database).ensure('alpha', `player-${players}`);
  });
}

async function connect(url: string): Promise<Accelerator> {
  const connection = new Accelerator({ url, prefix: 'test:', clock: systemClock, logger });
  await connection.connected(5_000);
  return connection;
}

/** A replica's sessions; all replicas share PostgreSQL and Redis. */
export function replica(
  key: string | 'no key' = KEY,
  store = new SessionStore(database),
  clock: Clock = systemClock,
  redis = accelerator,
): Sessions {
  const vault = new TokenVault(readEncryptionKeys(key === 'no key' ? undefined : key));
  const cache = new SessionCache(redis, 'here', vault);
  return new Sessions({ store, cache, vault, clock, logger });
}

/** A store in which one read of a token stops between PostgreSQL's answer and its use. */
export class HeldStore extends SessionStore {
  readonly #read = Promise.withResolvers<void>();
  readonly #release = Promise.withResolvers<void>();
  readonly read = this.#read.promise;
  readonly release = this.#release.resolve;

  override async findByTokenHash(tokenHash: Buffer) {
    const row = await super.findByTokenHash(tokenHash);
    this.#read.resolve();
    await this.#release.promise;
    return row;
  }
}

export const openIn = async (sessions: Sessions, currency: string, operatorToken: string) => {
  const opened = await sessions.open({ owner, currency, operatorToken, ttlSeconds: 600 });
  if (opened === undefined) throw new Error('no session');
  return opened;
};

export const open = (sessions: Sessions) => openIn(sessions, 'USD', 'anns-own-token');

export const revokeAll = (sessions: Sessions) =>
  sessions.revoke('alpha', { operatorUser: owner.operatorUser });
