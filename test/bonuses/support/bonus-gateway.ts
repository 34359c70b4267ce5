import type { Clock } from '../../../src/domain/clock.ts';
import {
  type SimulatedBonusApi,
  startBonusApi,
} from '../../../tools/simulator/bonus-api/bonus-api.ts';
import type { SimulatedOperator } from '../../../tools/simulator/operator.ts';
import type { CallResult } from '../../../tools/simulator/signed-client.ts';
import { SERVICE_SECRET, startTestGateway, type TestGateway } from '../../support/gateway.ts';
import { onServer } from '../../support/server.ts';
import { PATIENT_MS } from '../../support/timing.ts';

type Settings = Readonly<Record<string, unknown>>;

/** The aggregator's key at the service; no operator may ever see it. */
export const SERVICE_CID = 'aggregator-key';

/** A gateway in front of a simulated bonus API, with two operators. */
export interface BonusGateway {
  readonly gateway: TestGateway;
  readonly api: SimulatedBonusApi;
  readonly alpha: SimulatedOperator;
  readonly beta: SimulatedOperator;
  /** Creates a template as an operator. @returns its id. @throws Error if it was refused */
  template(operator: SimulatedOperator, fields?: object): Promise<number>;
  /** Issues a bonus as an operator. @returns its id. @throws Error if it was refused */
  bonus(operator: SimulatedOperator, templateId: number, user: string): Promise<number>;
  /**
   * Repeats until the answer is no longer 409: the read-back takes its time. Also where the repeat itself was left open,
   * because a busy machine had no answer in the service's time.
   */
  untilClosed(ask: () => Promise<CallResult>): Promise<CallResult>;
  /** Makes what is open so old that the read-back looks at it at once, and decides. */
  ageOpen(): Promise<void>;
  sql<Row extends Record<string, unknown>>(
    text: string,
    values?: readonly unknown[],
  ): Promise<readonly Row[]>;
  close(): Promise<void>;
}

export interface BonusGatewayOptions {
  readonly service?: Settings;
  readonly alpha?: Settings;
  readonly beta?: Settings;
  /** Whether open calls are read back. */
  readonly worker?: boolean;
  readonly clock?: Clock;
  readonly partners?: readonly { readonly cid: string; readonly secrets: readonly string[] }[];
  readonly templateOrder?: 'oldestFirst' | 'newestFirst';
  /** Another address of PostgreSQL, such as a proxy's. */
  readonly throughDatabase?: (databaseUrl: string) => Promise<string>;
}

export async function startBonusGateway(options: BonusGatewayOptions = {}): Promise<BonusGateway> {
  const { throughDatabase } = options;
  const api = await startBonusApi({
    partners: [{ cid: SERVICE_CID, secrets: [SERVICE_SECRET] }, ...(options.partners ?? [])],
    ...(options.templateOrder && { templateOrder: options.templateOrder }),
  });
  const gateway = await startTestGateway({
    gateway: { service: { bonusApiUrl: api.url, ...options.service } },
    operators: { alpha: options.alpha ?? {}, beta: options.beta ?? {} },
    worker: options.worker ?? false,
    ...(options.clock && { clock: options.clock }),
    ...(throughDatabase && {
      through: async (urls) => ({ ...urls, databaseUrl: await throughDatabase(urls.databaseUrl) }),
    }),
  });
  const alpha = gateway.operator('alpha');
  const beta = gateway.operator('beta');
  const sql = async <Row extends Record<string, unknown>>(
    text: string,
    values: readonly unknown[] = [],
  ) =>
    await onServer(
      gateway.databaseUrl,
      async (client) => (await client.query<Row>(text, [...values])).rows,
    );
  return {
    gateway,
    api,
    alpha,
    beta,
    template: async (operator, fields) => idOf(await createTemplate(operator, fields)),
    bonus: async (operator, templateId, user) => {
      const made = await operator.call('/bonuses/bonus/applyBatch', batchBody(templateId, [user]));
      const [id] = Object.keys(objectOf(made.json?.items));
      if (id === undefined) throw new Error(`no bonus: ${made.body}`);
      return Number(id);
    },
    untilClosed: async (ask) => {
      for (const started = Date.now(); ; ) {
        const answer = await ask();
        const isOpen = answer.status === 409 || answer.body.includes('is still open');
        if (!isOpen) return answer;
        if (Date.now() - started > 2 * PATIENT_MS) throw new Error(`still open: ${answer.body}`);
        await new Promise((resolve) => setTimeout(resolve, 200));
      }
    },
    ageOpen: async () => {
      for (const table of ['bonus_intents', 'bonus_grants']) {
        await sql(
          `UPDATE ${table} SET look_at = clock_timestamp(), created_at = created_at - interval '1 hour'
            WHERE state = 'open'`,
        );
      }
    },
    sql,
    close: async () => {
      await Promise.all([alpha.close(), beta.close()]);
      await gateway.close();
      await api.close();
    },
  };
}

/** Repeats if a busy machine left no time for the call: nothing was sent then. */
export async function createTemplate(
  operator: SimulatedOperator,
  fields: object = {},
): Promise<CallResult> {
  const create = () => operator.call('/bonuses/templates/add', templateBody(fields));
  let made = await create();
  for (let more = 10; made.body.includes('Not sent') && more > 0; more -= 1) made = await create();
  return made;
}

const NOW_SECONDS = Math.floor(Date.now() / 1000);

/** The body of a valid create call; `undefined` removes a member. */
export function templateBody(fields: object = {}): Readonly<Record<string, unknown>> {
  return {
    name: 'Bonus freebet',
    type: 'freebet_standart',
    enable: true,
    betCount: 1,
    stage: 1,
    fromTime: NOW_SECONDS - 86_400,
    toTime: NOW_SECONDS + 30 * 86_400,
    daysToUse: 1,
    betAmount: 5,
    maxWin: 4,
    currency: 'USD',
    minSelection: 1,
    maxSelection: 2,
    minOdd: 1,
    maxOdd: 3,
    disciplines: ['csgo'],
    maxWinCurrency: 'USD',
    ...fields,
  };
}

export function batchBody(templateId: number, users: readonly string[]): object {
  return { templateId, playersData: users.map((userId) => playerData(userId)) };
}

export function playerData(userId: string, fields: object = {}): object {
  return { userId, currency: 'USD', betAmount: 5, betCount: 1, forceActivated: true, ...fields };
}

export function objectOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

function idOf(made: CallResult): number {
  const id = made.json?.id;
  if (typeof id !== 'number') throw new Error(`no template: ${made.status} ${made.body}`);
  return id;
}

/** Everything by which an outsider could tell two answers apart. */
export function seen({ status, body, headers }: CallResult) {
  return { status, body, type: headers['content-type'], length: headers['content-length'] };
}
