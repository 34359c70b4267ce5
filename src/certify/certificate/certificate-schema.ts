import { z } from 'zod';
import { OPERATIONS } from '../../domain/operation.ts';
import type { Dialect } from '../../wallets/wallet-config.ts';
import { FAILURE_MEANINGS } from '../trial/failure-meaning.ts';
import {
  CERTIFICATE_SCHEMA,
  type Certificate,
  ENDINGS,
  FITNESS,
  GROUPS,
  VERDICTS,
} from './certificate.ts';

const amount = z.string().describe('Decimal text');
const count = z.int().min(0);
const operation = z.enum(OPERATIONS);
const meaning = z.enum(FAILURE_MEANINGS);
const caseIds = z.array(z.string());

const dialect = z
  .custom<Dialect>((value) => typeof value === 'object' && value !== null)
  .describe("Items as in an operator's wallet.dialect");

const seenCall = z.strictObject({
  operation,
  status: z.int().nullable(),
  answer: z.string(),
  ms: count,
});

const shownCall = z.strictObject({
  operation,
  at: z.iso.datetime(),
  ms: count,
  request: z.strictObject({
    method: z.string(),
    url: z.string(),
    headers: z.record(z.string(), z.string()),
    body: z.string(),
  }),
  answer: z.strictObject({ status: z.int(), body: z.string(), truncated: z.boolean() }).nullable(),
  error: z.string().nullable(),
});

const caseResult = z.strictObject({
  id: z.string(),
  group: z.enum(GROUPS),
  title: z.string(),
  rule: z.string(),
  expected: z.string(),
  verdict: z.enum(VERDICTS),
  meaning: meaning.nullable(),
  reasons: z.array(z.string()),
  seen: z.array(seenCall),
  seenLeftOut: count,
  calls: z.array(shownCall),
  script: z.string().nullable(),
  balance: z.strictObject({ before: amount, after: amount }).nullable(),
  durationMs: count,
});

const finding = z.strictObject({
  case: z.string(),
  verdict: z.enum(['failed', 'warned']),
  meaning,
  title: z.string(),
  what: z.string(),
  advice: z.string(),
  mendedBy: z.array(z.string()),
});

const item = z.custom<keyof Dialect>((value) => typeof value === 'string');
const suggestion = z.strictObject({ item, yaml: z.string(), why: z.string(), cases: caseIds });

/** The schema of `certificate.json`; see `certificate.ts` for what each member means. */
export const certificateSchema = z.strictObject({
  schemaVersion: z.literal(CERTIFICATE_SCHEMA),
  digest: z.string().regex(/^sha256:[0-9a-f]{64}$/),
  kit: z.strictObject({ name: z.literal('wagergate'), version: z.string(), node: z.string() }),
  verdict: z.enum(FITNESS),
  summary: z.string(),
  findings: z.array(finding),
  suggestions: z.array(suggestion),
  withheld: z.array(suggestion),
  verification: z
    .strictObject({
      dialect,
      passedBefore: count,
      passedAfter: count,
      spared: count,
      stillFailing: caseIds,
    })
    .nullable(),
  ending: z.enum(ENDINGS),
  complete: z.boolean(),
  operator: z.string(),
  wallet: z.string(),
  adapter: z.string(),
  dialect,
  strict: z.boolean(),
  player: z.strictObject({ userId: z.string(), currency: z.string() }),
  otherPlayer: z.string().nullable(),
  sandbox: z.strictObject({ isTest: z.boolean(), overridden: z.boolean() }),
  startedAt: z.iso.datetime(),
  durationMs: count,
  groups: z.array(z.enum(GROUPS)),
  callCount: count,
  counts: z.strictObject({ passed: count, failed: count, warned: count, skipped: count }),
  money: z.strictObject({
    before: amount.nullable(),
    after: amount.nullable(),
    difference: amount.nullable(),
  }),
  cases: z.array(caseResult),
}) satisfies z.ZodType<Certificate, unknown>;

/** The published JSON Schema of `certificate.json`, as text. */
export function certificateJsonSchema(): string {
  const schema = z.toJSONSchema(certificateSchema, {
    unrepresentable: 'any',
    override: ({ zodSchema, jsonSchema }) => {
      if (zodSchema === dialect) jsonSchema.type = 'object';
      if (zodSchema === item) jsonSchema.type = 'string';
    },
  });
  return `${JSON.stringify({ title: 'certificate.json of wagergate certify', ...schema }, null, 2)}\n`;
}
