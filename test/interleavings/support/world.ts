import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { Pool } from 'pg';
import { pino } from 'pino';
import type { Configuration } from '../../../src/config/schema/schema.ts';
import { ConfigurationSource } from '../../../src/config/source.ts';
import type { Bet } from '../../../src/domain/bet.ts';
import { systemClock } from '../../../src/domain/clock.ts';
import { GatewayError } from '../../../src/domain/errors.ts';
import { LiveCalls } from '../../../src/domain/live-calls.ts';
import { BetChanges } from '../../../src/operations/bet-changes.ts';
import type { Callbacks } from '../../../src/operations/callbacks.ts';
import { RefusedReads } from '../../../src/operations/refused-reads.ts';
import { RepairedAnswers } from '../../../src/operations/repaired-answers.ts';
import { Accelerator } from '../../../src/redis/accelerator.ts';
import { AnswerCache } from '../../../src/redis/answer-cache.ts';
import { SessionCache } from '../../../src/sessions/session-cache.ts';
import { Sessions } from '../../../src/sessions/sessions.ts';
import { TokenVault } from '../../../src/sessions/token-vault.ts';
import { BetJournal } from '../../../src/store/bets/journal.ts';
import { PlaceJournal } from '../../../src/store/bets/place-journal.ts';
import { Database } from '../../../src/store/database.ts';
import { Confirmations } from '../../../src/store/deliveries/confirmations.ts';
import { DeliveryStore } from '../../../src/store/deliveries/queue.ts';
import { createPrisma } from '../../../src/store/schema/prisma.ts';
import { DatabaseClock } from '../../../src/store/server/database-clock.ts';
import { Players } from '../../../src/store/sessions/players.ts';
import { SessionStore } from '../../../src/store/sessions/session-store.ts';
import type { SqlValue } from '../../../src/store/sql/sql-value.ts';
import type { Statement } from '../../../src/store/sql/statement.ts';
import { createMetrics } from '../../../src/telemetry/metrics.ts';
import { noTracing } from '../../../src/telemetry/tracing.ts';
import type { Wallets } from '../../../src/wallets/wallets.ts';
import { createDatabase } from '../../support/database.ts';
import { SERVICE_SECRET, writeConfiguration } from '../../support/gateway.ts';
import { sharedRedis } from '../../support/redis.ts';
import { Gates } from './gates.ts';
import { type People, peopleAt } from './people.ts';
import type { ScriptedWallet } from './scripted-wallet.ts';

/** Statements about a bet that change nothing. */
const READS = /^(bet-(find|answer-of|operations(-under)?|resolve-look)|delivery-look)$/;
/** Statements with a constant result: they are no steps. */
const CONSTANT =
  /^(session-|player-|database-now|bet-look-up-begun|place-look-up|confirmation-due)/;
/** Writes whose answer may be lost with its connection. */
const MAY_LOSE = /^(bet-commit|bet-finish|place-begin|place-finish)/;

/** An operator with its own player and session, so that runs of different lanes do not interfere. */
export interface Lane {
  readonly operatorId: string;
  readonly userId: string;
  readonly token: string;
  /** A gateway's core, as one process has it: real statements, each a step of its actor. */
  replica(isBehind?: boolean): Replica;
  /** The configured `wallet.generation`, of all processes but those that are behind. */
  generation: number;
  /** The wallet of the lane's current run. */
  wallet: ScriptedWallet | undefined;
}

export interface Replica extends Callbacks {
  readonly store: DeliveryStore;
  readonly confirmations: Confirmations;
  /** The `wallet.generation` that this process knows. */
  readonly generation: () => number;
}

type Row = Readonly<Record<string, string>>;

/** The servers and modules that all runs share. */
export interface World {
  lane(operatorId: string): Promise<Lane>;
  /** Bypasses all gates. @param name unique to this statement, which is planned once per connection */
  sql(name: string, text: string, values: readonly unknown[]): Promise<void>;
  bet(transactionId: string): Promise<Bet | undefined>;
  /** The same, with what it finds: texts. */
  look(name: string, text: string, values: readonly unknown[]): Promise<readonly Row[]>;
  readonly people: People;
  /** Of which only this bet is ever due, and it always is. */
  confirmationsOf(transactionId: string): Confirmations;
  close(): Promise<void>;
}

function walletsIn(
  lanes: ReadonlyMap<string, Lane>,
  generationOf: (lane: Lane) => number,
): Wallets {
  return {
    get: (operatorId) => {
      const lane = lanes.get(operatorId);
      return lane?.wallet?.of(() => generationOf(lane));
    },
    apply: () => undefined,
    setOverride: () => undefined,
    onBreakerChange: () => () => undefined,
    close: () => Promise.resolve(),
  };
}

/** The same configuration where all operators have wallets of that generation. */
function withGeneration(configuration: Configuration, generation: number): Configuration {
  const operators = [...configuration.operators].map(
    ([id, one]) => [id, { ...one, wallet: { ...one.wallet, generation } }] as const,
  );
  return { ...configuration, operators: new Map(operators) };
}

export async function openWorld(
  operatorIds: readonly string[],
  onFailure: 'error' | 'queue',
): Promise<World> {
  const { url, drop } = await createDatabase();
  const redis = await sharedRedis();
  const operators = operatorIds.map(
    (id) => [id, { wallet: { baseUrl: 'http://wallet.invalid' }, settle: { onFailure } }] as const,
  );
  const folder = await writeConfiguration({}, Object.fromEntries(operators), new Map());
  const logger = pino({ level: process.env.TEST_LOG ?? 'silent' });
  const config = { folder, env: { SERVICE_SECRET }, logger, onReload: () => undefined };
  const configuration = new ConfigurationSource(config).current;
  await rm(folder, { recursive: true });

  class GatedDatabase extends Database {
    protected override async query(statement: Statement, values: readonly SqlValue[]) {
      const { name } = statement;
      if (CONSTANT.test(name)) return await super.query(statement, values);
      const isRead = READS.test(name);
      const faults = isRead ? [] : MAY_LOSE.test(name) ? ['lostAnswer', 'kill'] : ['kill'];
      return await Gates.pass(
        { kind: isRead ? 'read' : 'write', label: name, faults },
        async (choice) => {
          const rows = await super.query(statement, values);
          if (choice !== 'lostAnswer') return rows;
          throw new GatewayError('DATABASE_UNAVAILABLE', 'the answer was lost');
        },
      );
    }
  }
  class GatedChanges extends BetChanges {
    override async next(): Promise<boolean> {
      const wait = { kind: 'wait', label: 'waits', faults: ['giveUp'] } as const;
      return await Gates.pass(wait, (choice) => Promise.resolve(choice === 'ok'));
    }
  }

  class OwnConfirmations extends Confirmations {
    readonly #own: string;

    constructor(own: string) {
      super(database);
      this.#own = own;
    }

    override async due() {
      return await Promise.resolve([{ transactionId: this.#own, nowMs: Date.now() }]);
    }
  }

  const clock = systemClock;
  const database = new GatedDatabase({
    ...{ url, connectionsMax: 12, onIdleError: () => undefined },
    // As for callbacks; otherwise planning would take most of the time of all orders.
    plans: 'kept',
  });
  const options = '-c plan_cache_mode=force_generic_plan -c enable_seqscan=off';
  const ungated = new Pool({ connectionString: url, max: 4, options });
  const prisma = createPrisma(url);
  const databaseClock = new DatabaseClock(database, clock);
  databaseClock.start();
  const accelerator = new Accelerator({ url: redis.url, prefix: 'i:', clock, logger });
  const vault = new TokenVault(undefined);
  const cache = new SessionCache(accelerator, 'here', vault);
  const sessionStore = new SessionStore(database);
  const sessions = new Sessions({ store: sessionStore, cache, vault, clock, logger });
  const players = new Players(database);
  const answers = new AnswerCache(accelerator, 'here', clock, () => 60_000);
  const metrics = createMetrics();
  const lanes = new Map<string, Lane>();
  const walletsOf = (generationOf: (lane: Lane) => number) => walletsIn(lanes, generationOf);
  const configurations = new Map([1, 2].map((one) => [one, withGeneration(configuration, one)]));
  const refusedReads = new RefusedReads({
    ...{ clock, metrics },
    wallets: walletsOf(() => 1),
  });
  await accelerator.connected(5_000);

  const replica = (generation: () => number = () => 1): Replica => ({
    ...{ clock, logger, metrics, players, sessions, answers, generation },
    wallets: walletsOf(generation),
    tracing: noTracing,
    configuration: () => configurations.get(generation()) ?? configuration,
    bets: new BetJournal(database, databaseClock),
    places: new PlaceJournal(database, databaseClock),
    changes: new GatedChanges(),
    liveCalls: new LiveCalls(clock),
    refusedReads,
    repairedAnswers: new RepairedAnswers({ clock, logger, metrics }),
    logsRead: () => false,
    store: new DeliveryStore(database),
    confirmations: new Confirmations(database),
  });
  return {
    lane: async (operatorId) => {
      const owner = await players.ensure(operatorId, randomUUID());
      const opened = await sessions.open({
        ...{ owner, currency: 'USD' },
        ...{ operatorToken: `token-of-${owner.operatorUser}`, ttlSeconds: 86_000 },
      });
      if (opened === undefined) throw new Error('no session');
      const { token } = opened;
      await sessions.findCertain(token);
      const lane: Lane = {
        ...{ operatorId, userId: owner.userId, token, wallet: undefined, generation: 1 },
        replica: (isBehind = false) => replica(isBehind ? () => 1 : () => lane.generation),
      };
      lanes.set(operatorId, lane);
      return lane;
    },
    sql: async (name, text, values) => {
      await ungated.query({ name, text, values: [...values] });
    },
    bet: (transactionId) => replica().bets.find(transactionId),
    look: async (name, text, values) => {
      return (await ungated.query<Row>({ name, text, values: [...values] })).rows;
    },
    people: peopleAt(prisma, database),
    confirmationsOf: (transactionId) => new OwnConfirmations(transactionId),
    close: async () => {
      databaseClock.close();
      answers.close();
      accelerator.close();
      await Promise.all([database.close(), ungated.end(), prisma.$disconnect()]);
      await drop();
    },
  };
}
