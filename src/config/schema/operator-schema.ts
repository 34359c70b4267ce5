import { z } from 'zod';
import { isPrivateHost } from '../../lib/public-address.ts';
import { deliveryOverrideSchema } from './delivery-schema.ts';
import { dialectSchema } from './dialect-schema.ts';
import { baseUrl, cidr, positiveInt, secrets, text, unique } from './fields.ts';
import { tlsSchema } from './tls-schema.ts';

/** The form of an operator's id, and so of its file's name. */
export const OPERATOR_ID = /^[a-z][a-z0-9-]{1,31}$/;

/** A wallet's default timeout, unless `deadline.totalMs` is lower. */
export const WALLET_TIMEOUT_MS = 4000;

const HOUR_MS = 60 * 60 * 1000;

const breakerSchema = z.strictObject({
  errorPercent: positiveInt(100)
    .default(50)
    .describe('Share of failed calls in the window at which the breaker opens'),
  minRequests: positiveInt(1_000_000)
    .default(20)
    .describe('Calls in the window below which the breaker never opens'),
  windowMs: positiveInt(HOUR_MS)
    .default(10_000)
    .describe('Length of the window whose calls are counted'),
  openMs: positiveInt(HOUR_MS)
    .default(5000)
    .describe('How long the breaker stays open before one trial call'),
});

const walletSchema = z
  .strictObject({
    adapter: z
      .enum(['native'])
      .default('native')
      .describe("Protocol of the wallet; native: the service's own callbacks protocol"),
    baseUrl: baseUrl().describe("Base address of the operator's wallet"),
    allowPrivate: z
      .boolean()
      .default(false)
      .describe('Permits plain http and private or loopback addresses (tests, same network)'),
    secrets: secrets('others').describe(
      'Secrets shared with the wallet: the first signs what is sent',
    ),
    tls: tlsSchema.optional(),
    // No default in the schema, because the default gives way to a shorter deadline.
    timeoutMs: positiveInt(5000).optional().meta({
      default: WALLET_TIMEOUT_MS,
      description: 'How long a call may take; never above what the deadline leaves',
    }),
    generation: positiveInt(2_147_483_647)
      .default(1)
      .describe(
        "Raise it when the wallet's books are new: bets of an older generation are held until released",
      ),
    maxConcurrent: z
      .strictObject({
        read: positiveInt(100_000).default(64).describe('Profile and balance calls at once'),
        money: positiveInt(100_000).default(256).describe('Bet calls at once'),
      })
      .prefault({})
      .describe('Bulkheads of one process'),
    breaker: breakerSchema.prefault({}).describe('Circuit breaker, one per call class'),
    dialect: dialectSchema.prefault({}).describe('How the wallet deviates from the protocol'),
  })
  .superRefine((wallet, context) => {
    if (!URL.canParse(wallet.baseUrl)) return;
    const url = new URL(wallet.baseUrl);
    if (wallet.tls !== undefined && url.protocol === 'http:') {
      const message = 'stands beside a plain http address: use https, or remove it';
      context.addIssue({ code: 'custom', path: ['tls'], message });
    }
    if (wallet.allowPrivate) return;
    const wrong =
      url.protocol === 'http:'
        ? 'is plain http: use https'
        : isPrivateHost(url)
          ? 'names a private, loopback or link-local address: name a public host'
          : undefined;
    if (wrong === undefined) return;
    context.addIssue({
      code: 'custom',
      path: ['baseUrl'],
      message: `${wrong}, or set allowPrivate: true`,
    });
  })
  .describe('The HTTP API that debits and credits');

const currency = z
  .string()
  .regex(/^\S{3,5}$/u, { error: 'must have 3 to 5 characters, such as EUR' })
  .describe('A currency');

const bonusesSchema = z.strictObject({
  enabled: z.boolean().default(true).describe('Whether the operator may use the bonus API'),
  sharedTemplates: unique(z.array(z.int().min(0).describe('A template id')))
    .default([])
    .describe("Templates of the aggregator's that the operator may read and issue"),
  upstream: z
    .strictObject({
      cid: text('the key').describe('The partner API key at the service'),
      secrets: secrets('others').describe('Its secrets: the first signs'),
    })
    .optional()
    .describe("A partner account of its own at the service; left out: the aggregator's"),
});

/** `operators/<id>.yaml`: one operator. */
export const operatorSchema = z
  .strictObject({
    id: z
      .string()
      .regex(OPERATOR_ID, {
        error: 'must be 2 to 32 lower-case letters, digits or dashes, beginning with a letter',
      })
      .describe("The operator's id; equals the file's name"),
    name: text('the name people know').describe('The name people know the operator by'),
    status: z
      .enum(['active', 'maintenance', 'suspended'])
      .default('active')
      .describe('The state of the operator: active, maintenance or suspended'),
    wallet: walletSchema,
    api: z
      .strictObject({
        cid: text('the key').describe("The operator's key at this gateway; unique"),
        secrets: secrets('us').describe('Secrets that verify what the operator sends'),
        allowedIps: z
          .array(cidr().describe('A CIDR'))
          .default([])
          .describe('CIDRs that the operator may call from; empty: all'),
        freshness: z
          .enum(['required', 'optional'])
          .default('optional')
          .describe('Whether each request must carry path, at and nonce, or may'),
      })
      .describe("The operator's access to this gateway"),
    sessions: z
      .strictObject({
        mode: z
          .enum(['issued', 'prefixed'])
          .default('issued')
          .describe('issued: the operator asks for tokens; prefixed: it passes <id>.<its token>'),
        ttlSeconds: positiveInt(2_592_000).default(86_400).describe('How long a session lives'),
      })
      .prefault({})
      .describe("Players' sessions"),
    currencies: unique(z.array(currency).min(1)).describe("Currencies of the operator's players"),
    subPartnerId: text('the mark, or remove it')
      .optional()
      .describe('Bets marked for another sub-partner are refused; left out: any mark passes'),
    settle: z
      .strictObject({
        onFailure: z
          .enum(['error', 'queue'])
          .default('error')
          .describe(
            'A first settle that the wallet does not answer: with error the service repeats it, with queue it becomes a delivery',
          ),
      })
      .prefault({})
      .describe('Settling bets'),
    bonuses: bonusesSchema.prefault({}).describe("The operator's view of the bonus API"),
    delivery: deliveryOverrideSchema
      .optional()
      .describe('Overrides delivery of gateway.yaml, item by item'),
  })
  .meta({ title: 'Wagergate: operators/<id>.yaml', description: 'One operator' });
