import { z } from 'zod';
import { WALLET_BUDGET_MS_MIN } from '../../domain/deadline.ts';
import { deliverySchema } from './delivery-schema.ts';
import { baseUrl, cidr, positiveInt, secrets, text, timeZone } from './fields.ts';

/** The service gives up on an answer after this long (service protocol, What the service does). */
const SERVICE_LIMIT_MS = 5000;

const MONTH_SECONDS = 30 * 24 * 60 * 60;

const WEEK_MINUTES = 7 * 24 * 60;

const serviceSchema = z
  .strictObject({
    cid: text('the key').describe("The aggregator's partner API key at the service"),
    secrets: secrets('others').describe(
      'Secrets shared with the service: all verify its callbacks, the first signs bonus calls',
    ),
    bonusApiUrl: baseUrl().describe("Base address of the service's bonus API ({s2s_api_url})"),
    bonusTimeoutMs: positiveInt(120_000)
      .default(10_000)
      .describe('How long a call of the bonus API may take'),
    allowedIps: z
      .array(cidr().describe('A CIDR'))
      .default([])
      .describe('CIDRs that may send callbacks; empty: all'),
    trustProxy: z
      .union([z.literal(false), z.array(cidr().describe('A CIDR'))], {
        error: 'must be false, or the CIDRs of the proxies in front, such as [10.0.0.0/8]',
      })
      .default(false)
      .describe(
        'CIDRs of the proxies whose forwarding headers are trusted; false: the peer is the caller',
      ),
  })
  .describe('The betting service that sends callbacks and serves the bonus API');

const deadlineSchema = z
  .strictObject({
    totalMs: positiveInt(SERVICE_LIMIT_MS)
      .default(4800)
      .describe(
        "Every answer leaves before this, from the request's arrival; the service waits 5000 ms",
      ),
    reserveMs: z
      .int()
      .min(0)
      .max(SERVICE_LIMIT_MS)
      .default(300)
      .describe("Kept back from the wallet for the gateway's own work"),
  })
  .superRefine(({ totalMs, reserveMs }, context) => {
    // With less, no wallet is ever called: every bet of every operator would be refused unsent.
    if (totalMs - reserveMs >= WALLET_BUDGET_MS_MIN) return;
    const left = `${reserveMs} leaves less of totalMs (${totalMs}) than the ${WALLET_BUDGET_MS_MIN} ms`;
    context.addIssue({
      code: 'custom',
      path: ['reserveMs'],
      message: `${left} with which a wallet is asked at all: lower it, or raise totalMs`,
    });
  });

const idempotencySchema = z.strictObject({
  ttlSeconds: positiveInt(MONTH_SECONDS)
    .default(86_400)
    .describe('How long Redis remembers final answers; the journal decides beyond'),
});

const httpSchema = z.strictObject({
  maxConnections: positiveInt(1_000_000)
    .default(2000)
    .describe(
      'Most connections at once; beyond it, the address or operator that holds most loses its longest quiet one',
    ),
});

const EVIDENCE_BYTES_MAX = 65_536;

const evidenceSchema = z.strictObject({
  acceptedBytes: z
    .int()
    .min(0)
    .max(EVIDENCE_BYTES_MAX)
    .default(512)
    .describe('First bytes kept of an answer that accepts; 0 keeps none'),
  otherBytes: z
    .int()
    .min(0)
    .max(EVIDENCE_BYTES_MAX)
    .default(4096)
    .describe('First bytes kept of every other answer; 0 keeps none'),
});

const booksSchema = z
  .strictObject({
    timeZone: timeZone()
      .default('UTC')
      .describe("The aggregator's time zone: where its days begin and end"),
    closeAfterMinutes: z
      .int()
      .min(0)
      .max(WEEK_MINUTES)
      .default(60)
      .describe('A day is closed this long after its end, once nothing of it is open any more'),
    closeAtLatestMinutes: z
      .int()
      .min(0)
      .max(WEEK_MINUTES)
      .default(1440)
      .describe(
        'A day is closed this long after its end at the latest; what is still open is then listed',
      ),
    reconciliationMebibytesMax: z
      .int()
      .min(1)
      .max(1_048_576)
      .default(4096)
      .describe('Largest list that is compared with the journal, compressed or not'),
  })
  .superRefine(({ closeAfterMinutes, closeAtLatestMinutes }, context) => {
    if (closeAfterMinutes <= closeAtLatestMinutes) return;
    context.addIssue({
      code: 'custom',
      path: ['closeAfterMinutes'],
      message: `${closeAfterMinutes} is more than closeAtLatestMinutes (${closeAtLatestMinutes}): raise that`,
    });
  });

/** `gateway.yaml`: the settings of the gateway as a whole. */
export const gatewaySchema = z
  .strictObject({
    service: serviceSchema,
    deadline: deadlineSchema.prefault({}).describe('The time budget of a callback'),
    http: httpSchema
      .prefault({})
      .describe('Limits of one process for callers that are not authenticated yet'),
    idempotency: idempotencySchema.prefault({}).describe('Duplicates of callbacks'),
    delivery: deliverySchema
      .prefault({})
      .describe('Operations accepted for later delivery to a wallet; each operator may override'),
    evidence: evidenceSchema
      .prefault({})
      .describe(
        "What is kept of wallets' answers to bet calls, for people; never a token or secret",
      ),
    books: booksSchema.prefault({}).describe('Daily statements of what the wallets confirmed'),
  })
  .meta({ title: 'Wagergate: gateway.yaml', description: 'The gateway as a whole' });
