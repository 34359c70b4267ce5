import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { prune } from '../../../src/store/prune/prune.ts';
import { openTestJournal, type TestJournal } from '../../support/journal.ts';
import { onServer } from '../../support/server.ts';

const BEFORE = new Date('2026-03-01T00:00:00Z');

let journal: TestJournal;
beforeAll(async () => {
  journal = await openTestJournal();
});
afterAll(() => journal.close());
beforeEach(() => journal.sql('TRUNCATE bonus_intents, bonus_grants, bonus_templates, bonuses'));

interface CallFacts {
  readonly kind?: 'create' | 'apply';
  readonly state?: 'open' | 'done' | 'failed';
  readonly closedAt?: string;
  readonly aboveId?: number;
  readonly templateId?: number;
}

/** A call of the bonus API with this body; with two players if it is a batch. */
async function call(body: string, facts: CallFacts = {}): Promise<void> {
  const { kind = 'apply', state = 'done', closedAt = '2026-02-28T23:59:59Z' } = facts;
  const closed = state === 'open' ? 'NULL' : `'${closedAt}'`;
  await journal.sql(
    `WITH made AS (
       INSERT INTO bonus_intents (upstream_cid, operator_id, kind, body_hash, body, state, above_id,
                                  template_id, answer_status, answer_body, look_at, created_at,
                                  closed_at)
       VALUES ('aggregator-key', 'alpha', '${kind}', '${body}', '${body}', '${state}',
               ${facts.aboveId ?? 'NULL'}, ${facts.templateId ?? 'NULL'}, 200, '{}', '2026-01-01',
               '2026-01-01', ${closed})
       RETURNING id)
     INSERT INTO bonus_grants (intent_id, upstream_cid, operator_id, template_id, user_id, state,
                               look_at)
     SELECT id, 'aggregator-key', 'alpha', 57, '${body}-' || player,
            '${state === 'open' ? 'open' : 'issued'}', '2026-01-01'
       FROM made, unnest(ARRAY['ann', 'ben']) AS player WHERE '${kind}' = 'apply'`,
  );
}

const pruned = async (isDryRun = false) =>
  (await prune(journal.url, { before: BEFORE, isDryRun, log: () => undefined })).bonusCalls;
const rows = async (text: string) =>
  await onServer(journal.url, async (client) => (await client.query(text)).rows);
const bodies = async () =>
  (await rows('SELECT body FROM bonus_intents ORDER BY body')).map(({ body }) => body);
const players = async () =>
  (await rows('SELECT user_id FROM bonus_grants ORDER BY id')).map(({ user_id: id }) => id);

describe('pruning the calls of the bonus API', () => {
  it('deletes calls that were closed before, with their players, and no open one', async () => {
    await call('done');
    await call('failed', { state: 'failed' });
    await call('open', { state: 'open' });
    await call('later', { closedAt: '2026-03-01T00:00:00Z' });
    expect(await pruned()).toBe(2);
    expect(await bodies()).toEqual(['later', 'open']);
    expect(await players()).toEqual(['open-ann', 'open-ben', 'later-ann', 'later-ben']);
  });

  it('keeps whose a template or bonus is (I8)', async () => {
    await journal.sql(`INSERT INTO bonus_templates (upstream_cid, template_id, operator_id, origin,
                                                    created_at)
                       VALUES ('aggregator-key', 57, 'alpha', 'created', '2025-01-01')`);
    await journal.sql(`INSERT INTO bonuses (upstream_cid, bonus_id, operator_id, user_id, created_at)
                       VALUES ('aggregator-key', 7, 'alpha', 'ann', '2025-01-01')`);
    await call('create', { kind: 'create', templateId: 57, aboveId: 56 });
    expect(await pruned()).toBe(1);
    expect(await rows('SELECT 1 FROM bonus_templates')).toHaveLength(1);
    expect(await rows('SELECT 1 FROM bonuses')).toHaveLength(1);
  });

  it('keeps an answered create that an open one could be mistaken for', async () => {
    await call('answered', { kind: 'create', templateId: 57, aboveId: 56 });
    await call('older', { kind: 'create', templateId: 50, aboveId: 49 });
    await call('stuck', { kind: 'create', state: 'open', aboveId: 55 });
    expect(await pruned()).toBe(1);
    expect(await bodies()).toEqual(['answered', 'stuck']);
  });

  it('goes through all of them, however many', async () => {
    await journal.sql(
      `INSERT INTO bonus_intents (upstream_cid, operator_id, kind, body_hash, body, state, look_at,
                                  closed_at)
       SELECT 'aggregator-key', 'alpha', 'apply', n::text::bytea, n::text, 'failed', '2026-01-01',
              CASE WHEN n % 600 = 0 THEN '2026-04-01'::timestamptz ELSE '2026-01-01' END
         FROM generate_series(1, 1300) n`,
    );
    expect(await pruned(true)).toBe(1298);
    expect(await rows('SELECT 1 FROM bonus_intents')).toHaveLength(1300);
    expect(await pruned()).toBe(1298);
    expect(await bodies()).toEqual(['1200', '600']);
  });
});
