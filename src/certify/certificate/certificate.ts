import { z } from 'zod';
import { OPERATIONS } from '../../domain/operation.ts';
import type { DeepReadonly } from '../../lib/deep-readonly.ts';
import type { Dialect } from '../../wallets/wallet-config.ts';
import { FAILURE_MEANINGS } from '../trial/failure-meaning.ts';

/** Increased whenever a reader of older certificates would misunderstand a newer one. */
export const CERTIFICATE_SCHEMA = 2;

/** In the order in which they run: currencies leave noise in the balance, and shape judges all answers. */
export const GROUPS = [
  'signatures',
  ...OPERATIONS,
  'freebet',
  'latency',
  'currencies',
  'shape',
] as const;

export type Group = (typeof GROUPS)[number];

/** `failed`: violates the protocol. `warned`: odd, but the gateway copes. `skipped`: not tried, with the reason. */
export const VERDICTS = ['passed', 'failed', 'warned', 'skipped'] as const;
export type Verdict = (typeof VERDICTS)[number];

/** Whether the wallet may go live behind the gateway, as it is or with the dialect of the certificate. */
export const FITNESS = ['fit', 'fit_with_dialect', 'not_fit'] as const;
export type Fitness = (typeof FITNESS)[number];

/** How a run ended. `silent`: the wallet stopped answering; `not_begun`: it never did. */
export const ENDINGS = ['finished', 'interrupted', 'silent', 'not_begun'] as const;
export type RunEnding = (typeof ENDINGS)[number];

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

/** The schema of `certificate.json`. */
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
});

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

/** What `certificate.json` holds. */
export type Certificate = DeepReadonly<z.output<typeof certificateSchema>>;
export type CaseResult = Certificate['cases'][number];
/** One call to the wallet in short, without tokens, secrets and signatures. */
export type SeenCall = CaseResult['seen'][number];
/** One call with everything sent and received, except tokens, secrets and signatures. */
export type ShownCall = CaseResult['calls'][number];
/** A case that failed or warned, with what to do about it. */
export type Finding = Certificate['findings'][number];
/** An item of `wallet.dialect` with which the gateway understands the wallet's answers. */
export type Suggestion = Certificate['suggestions'][number];
/** An item that looked helpful but must not be used; its cases are those that it would hide or break. */
export type Withheld = Certificate['withheld'][number];
/** The result of the second run, with all suggested items in force. */
export type Verification = NonNullable<Certificate['verification']>;

/** How many cases ended in each verdict. */
export function countsOf(cases: readonly CaseResult[]): Readonly<Record<Verdict, number>> {
  const count = (verdict: Verdict) => cases.filter((one) => one.verdict === verdict).length;
  return {
    passed: count('passed'),
    failed: count('failed'),
    warned: count('warned'),
    skipped: count('skipped'),
  };
}
