import { Pool } from 'pg';
import { pino } from 'pino';
import type { BonusCall, Bonuses } from '../../../src/bonuses/context.ts';
import type { BonusMethod } from '../../../src/bonuses/method-names.ts';
import type { ReadingBack } from '../../../src/bonuses/read-back/reader.ts';
import { Accounts } from '../../../src/bonuses/service/account.ts';
import { judge } from '../../../src/bonuses/service/answer.ts';
import type { BonusService } from '../../../src/bonuses/service/client.ts';
import type { Configuration } from '../../../src/config/schema/schema.ts';
import { systemClock } from '../../../src/domain/clock.ts';
import { Deadline } from '../../../src/domain/deadline.ts';
import { GatewayError } from '../../../src/domain/errors.ts';
import { parseJsonObject } from '../../../src/protocol/json.ts';
import { BonusGrants } from '../../../src/store/bonuses/grants.ts';
import { type BegunIntent, BonusIntents } from '../../../src/store/bonuses/intents.ts';
import { OpenCreates } from '../../../src/store/bonuses/open-creates.ts';
import { BonusOwnership } from '../../../src/store/bonuses/ownership.ts';
import { BonusPlayers } from '../../../src/store/bonuses/players.ts';
import { BonusWalks } from '../../../src/store/bonuses/walks.ts';
import { Database } from '../../../src/store/database.ts';
import type { SqlValue } from '../../../src/store/sql/sql-value.ts';
import type { Statement } from '../../../src/store/sql/statement.ts';
import { createMetrics } from '../../../src/telemetry/metrics.ts';
import { answerTo } from '../../../tools/simulator/bonus-api/answers.ts';
import { BonusBooks } from '../../../tools/simulator/bonus-api/books.ts';
import { readBonusCall } from '../../../tools/simulator/bonus-api/requests.ts';
import { createDatabase } from '../../support/database.ts';
import { partly } from '../../support/partly.ts';
import { Gates } from './gates.ts';

/** So long that no request ends by it within a run: time passes only where a run says so. */
const TIMEOUT_MS = 3_600_000;
/** More than a request's patience, and less than the time after which a lost call counts as never made. */
const PASSING = `interval '96 minutes'`;
/** Statements with a result that nothing in a run changes, or that nothing in a run decides by: they are no steps. */
const CONSTANT = /^bonus-(players-|walk-introduce|template-owned|template-copies)/;
const READS = /^bonus-(intent-equal|intent-other|walk-open|walk-candidates|grant-settled)/;

export const OPERATORS = ['alpha', 'beta'] as const;
export type OperatorId = (typeof OPERATORS)[number];

/** One run: an account at the service of its own, with its templates and bonuses. */
export interface BonusRun {
  readonly cid: string;
  readonly books: BonusBooks;
  readonly reading: ReadingBack;
  call(operatorId: OperatorId, body: object): BonusCall;
  /**
   * Time passes, for everything but the requests that are under way. What the service is late with it carries out by the
   * second time.
   */
  timePasses(): Promise<void>;
  /** The service carries out what it is late with. */
  catchUp(): void;
  /** The request of this actor has ended, or its process. */
  ended(actor: string): void;
  look(text: string): Promise<readonly Readonly<Record<string, string>>[]>;
}

export interface BonusWorld {
  run(): BonusRun;
  close(): Promise<void>;
}

class GatedDatabase extends Database {
  protected override async query(statement: Statement, values: readonly SqlValue[]) {
    const { name } = statement;
    if (CONSTANT.test(name)) return await super.query(statement, values);
    const isRead = READS.test(name);
    const faults = isRead ? [] : ['lostAnswer', 'kill'];
    const step = { kind: isRead ? 'read' : 'write', label: name, faults } as const;
    return await Gates.pass(step, async (choice) => {
      const rows = await super.query(statement, values);
      if (choice !== 'lostAnswer') return rows;
      throw new GatewayError('DATABASE_UNAVAILABLE', 'the answer was lost');
    });
  }
}

/** Only those of one account: what other runs leave open is no step of this one. */
class OwnGrants extends BonusGrants {
  readonly #isOwn: (intentId: string) => Promise<boolean>;

  constructor(database: Database, isOwn: (intentId: string) => Promise<boolean>) {
    super(database);
    this.#isOwn = isOwn;
  }

  override async leftOpen(): Promise<readonly string[]> {
    const own: string[] = [];
    for (const id of await super.leftOpen()) if (await this.#isOwn(id)) own.push(id);
    return own;
  }
}

export async function openBonusWorld(): Promise<BonusWorld> {
  const { url, drop } = await createDatabase();
  const logger = pino({ level: process.env.TEST_LOG ?? 'silent' });
  const database = new GatedDatabase({
    ...{ url, connectionsMax: 12, onIdleError: () => undefined },
    plans: 'kept',
  });
  const ungated = new Pool({ connectionString: url, max: 4 });
  const metrics = createMetrics();
  const ownership = new BonusOwnership(database);
  const players = new BonusPlayers(database);
  let runs = 0;
  return {
    run: () => {
      runs += 1;
      const cid = `account-${runs}`;
      const configuration = configurationOf(cid);
      const accounts = new Accounts(() => configuration);
      const underWay = new Map<string, string>();
      const begun = (intentId: string) => void underWay.set(Gates.actor ?? '', intentId);
      const books = new BonusBooks(systemClock);
      const late: Late[] = [];
      const catchUp = (isDue: (one: Late) => boolean = () => true) => {
        for (const one of late.filter(isDue)) {
          late.splice(late.indexOf(one), 1);
          one.carryOut();
        }
      };
      const isOwn = async (id: string) => {
        const text = 'SELECT FROM bonus_intents WHERE id = $1 AND upstream_cid = $2';
        return (await ungated.query(text, [id, cid])).rows.length > 0;
      };
      const bonuses: Bonuses = {
        ...{ clock: systemClock, logger, configuration: () => configuration, accounts },
        service: serviceOf(books, late),
        ...{ ownership, players, intents: intentsOf(database, begun) },
      };
      return {
        ...{ cid, books },
        reading: {
          ...{ ...bonuses, metrics, walks: new BonusWalks(database) },
          ...{ openCreates: new OpenCreates(database), grants: new OwnGrants(database, isOwn) },
          ...{ pausedUntilMs: new Map(), triedInVain: new Map() },
        },
        call: (operatorId, body) => callOf(configuration, accounts, operatorId, body),
        timePasses: async () => {
          catchUp(({ isOld }) => isOld);
          for (const one of late) one.isOld = true;
          await timePasses(ungated, cid, [...underWay.values()]);
        },
        catchUp: () => catchUp(),
        ended: (actor) => void underWay.delete(actor),
        look: async (text) => (await ungated.query(text, [cid])).rows,
      };
    },
    close: async () => {
      await Promise.all([database.close(), ungated.end()]);
      await drop();
    },
  };
}

/** @param begun told about each intent that was written */
function intentsOf(database: Database, begun: (intentId: string) => void): BonusIntents {
  const intents = new BonusIntents(database);
  const told = (answer: BegunIntent) => {
    if (answer.kind === 'begun') begun(answer.intentId);
    return answer;
  };
  const beginCreate = intents.beginCreate.bind(intents);
  const beginApply = intents.beginApply.bind(intents);
  intents.beginCreate = async (...asked) => told(await beginCreate(...asked));
  intents.beginApply = async (...asked) => told(await beginApply(...asked));
  return intents;
}

function configurationOf(cid: string): Configuration {
  const operators = OPERATORS.map((id) => {
    const bonuses = { enabled: true, sharedTemplates: [] };
    return [id, { id, api: { cid: `${id}-key` }, currencies: ['USD'], bonuses }] as const;
  });
  const service = { cid, secrets: ['the-services-secret'], bonusTimeoutMs: TIMEOUT_MS };
  return partly({ gateway: { service }, operators: new Map(operators) });
}

function callOf(
  { operators }: Configuration,
  accounts: Accounts,
  operatorId: OperatorId,
  body: object,
): BonusCall {
  const operator = operators.get(operatorId);
  if (operator === undefined) throw new Error(`no operator ${operatorId}`);
  const account = accounts.of(operator);
  const { cid } = operator.api;
  return {
    ...{ operator, account, tenant: { operatorId, upstreamCid: account.cid } },
    document: parseJsonObject(Buffer.from(JSON.stringify({ cid, ...body }))),
    deadline: new Deadline(systemClock, systemClock.monotonicMs(), TIMEOUT_MS, 0),
    charge: () => undefined,
    inTurn: (read) => read(),
  };
}

/** A call without an answer that the service has not carried out yet. */
interface Late {
  isOld: boolean;
  readonly carryOut: () => void;
}

/** The service: it carries a call out in one step, and in another one its answer arrives. */
function serviceOf(books: BonusBooks, late: Late[]): BonusService {
  return partly({
    ask: async (_caller: string, _account: unknown, method: BonusMethod, body: string) => {
      const isWrite = method === 'templates/add' || method === 'bonus/applyBatch';
      const faults = isWrite ? ['never', 'taken', 'late', 'kill'] : ['never', 'kill'];
      const answer = await Gates.pass({ kind: 'wallet', label: method, faults }, async (choice) => {
        const document = parseJsonObject(Buffer.from(body));
        const carryOut = () => answerTo(readBonusCall(method, document), books, 'oldestFirst');
        if (choice === 'late') late.push({ isOld: false, carryOut });
        const told = choice === 'late' || choice === 'never' ? undefined : carryOut();
        return await Promise.resolve(choice === 'taken' ? undefined : told);
      });
      if (isWrite) {
        const step = { kind: 'read', label: `hears of ${method}`, faults: ['kill'] } as const;
        await Gates.pass(step, () => Promise.resolve());
      }
      if (answer === undefined) return { kind: 'silent', error: 'no answer' };
      const response = { status: answer.status, body: Buffer.from(answer.body) };
      return judge({ kind: 'response', ...response }, method);
    },
  });
}

async function timePasses(pool: Pool, cid: string, underWay: readonly string[]): Promise<void> {
  const ids = [cid, underWay];
  const late = `look_at = look_at - ${PASSING}, created_at = created_at - ${PASSING}`;
  await pool.query(
    `WITH intents AS (UPDATE bonus_intents SET ${late} WHERE upstream_cid = $1 AND id <> ALL ($2::bigint[])),
          grants AS (UPDATE bonus_grants SET ${late} WHERE upstream_cid = $1 AND intent_id <> ALL ($2::bigint[])),
          owned AS (UPDATE bonuses SET created_at = created_at - ${PASSING} WHERE upstream_cid = $1),
          copies AS (UPDATE bonus_template_copies SET seen_at = seen_at - ${PASSING} WHERE upstream_cid = $1)
     UPDATE bonus_walks SET started_at = started_at - ${PASSING}, completed_at = completed_at - ${PASSING},
                            lease_until = lease_until - ${PASSING} WHERE upstream_cid = $1`,
    ids,
  );
}
