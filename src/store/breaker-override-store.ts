import { CALL_CLASSES, type CallClass } from '../domain/operation.ts';
import { AUDITED, type Authority, auditText } from './audit/audited.ts';
import type { Database } from './database.ts';
import { type Columns, noRow, type Parameters, statement } from './sql/statement.ts';

/** A person's decision about an operator's breaker. */
export interface StoredOverride {
  readonly operatorId: string;
  readonly callClass: CallClass;
  readonly state: 'closed' | 'open';
}

const STATES = ['closed', 'open'] as const;

const READ = statement(
  'breaker-overrides',
  {},
  'SELECT operator_id, class, state FROM breaker_overrides',
  overrideOf,
);

/** Rows are also written by hand: one with unknown values is skipped. */
function overrideOf(row: Columns): StoredOverride | undefined {
  const callClass = CALL_CLASSES.find((known) => known === row.text('class'));
  const state = STATES.find((known) => known === row.text('state'));
  if (callClass === undefined || state === undefined) return undefined;
  return { operatorId: row.text('operator_id'), callClass, state };
}

type Key = Pick<StoredOverride, 'operatorId' | 'callClass'>;

const KEY: Parameters<Key> = {
  operator_id: ['text', ({ operatorId }) => operatorId],
  class: ['text', ({ callClass }) => callClass],
};

type Audited = { readonly by: Authority };

const BEFORE =
  'SELECT state FROM breaker_overrides WHERE operator_id = :operator_id AND class = :class';
const SUBJECT = "'breaker ' || :operator_id || ' ' || :class";
const STATE_BEFORE = "jsonb_build_object('state', coalesce((SELECT state FROM before), 'auto'))";

const WRITE = statement(
  'breaker-override-write',
  {
    ...KEY,
    ...AUDITED,
    state: ['text', ({ state }) => state],
  } satisfies Parameters<StoredOverride & Audited>,
  `
  WITH before AS (${BEFORE}), changed AS (
  INSERT INTO breaker_overrides (operator_id, class, state, updated_at)
  VALUES (:operator_id, :class, :state, clock_timestamp())
  ON CONFLICT (operator_id, class) DO UPDATE
     SET state = excluded.state, updated_at = excluded.updated_at
  ) ${auditText('breaker.set', `SELECT ${SUBJECT}, :operator_id, ${STATE_BEFORE}, jsonb_build_object('state', :state)`)}`,
  noRow,
);

const REMOVE = statement<Key & Audited, undefined>(
  'breaker-override-remove',
  { ...KEY, ...AUDITED },
  `
  WITH before AS (${BEFORE}), changed AS (
    DELETE FROM breaker_overrides WHERE operator_id = :operator_id AND class = :class
  ) ${auditText('breaker.set', `SELECT ${SUBJECT}, :operator_id, ${STATE_BEFORE}, jsonb_build_object('state', 'auto')`)}`,
  noRow,
);

/** Every method throws GatewayError `DATABASE_UNAVAILABLE`. */
export class BreakerOverrideStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async all(): Promise<readonly StoredOverride[]> {
    const rows = await this.#database.run(READ, {});
    return rows.filter((row) => row !== undefined);
  }

  async write(override: StoredOverride, by: Authority): Promise<void> {
    await this.#database.run(WRITE, { ...override, by });
  }

  async remove(operatorId: string, callClass: CallClass, by: Authority): Promise<void> {
    await this.#database.run(REMOVE, { operatorId, callClass, by });
  }
}
