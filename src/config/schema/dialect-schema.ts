import { z } from 'zod';
import { text } from './fields.ts';

/** The code with which a wallet reports its own failure; no dialect may turn it into a decline (I2). */
const SYSTEM_ERROR = 100;

const code = () => z.int().min(0).max(99_999);
const definiteCode = () =>
  code()
    .refine((value) => value !== SYSTEM_ERROR, {
      error: 'must not be 100: a wallet that says it failed has decided nothing',
    })
    .describe("A wallet's code");

/** Anything else would only fail at each call, when a bet is already waiting. */
const path = () =>
  z.string().regex(/^\/[!-"$->@-~]*$/, {
    error: 'must begin with / and have no query and printable ASCII alone, such as /bets',
  });

/** Headers that frame or sign a request: only the gateway sets them. */
const OWN_HEADERS = [
  'connection',
  'content-length',
  'expect',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'x-deadline-ms',
  'x-request-id',
  'x-sign',
  'x-sign-jws',
];

const headerName = z
  .string()
  .regex(/^[\w!#$%&'*+.^`|~-]+$/, { error: 'must be a header name: letters, digits and dashes' })
  .refine((name) => !OWN_HEADERS.includes(name.toLowerCase()), {
    error: 'is set by the gateway itself: remove it',
  });

const headerValue = z
  .string()
  .regex(/^[\t\x20-\x7e]*$/, { error: 'must be printable ASCII without line breaks' })
  .describe('The value of the header');

const errorStatus = z.string().regex(/^[234]\d\d$/, {
  error: 'must be an HTTP status from 200 to 499: 500 and above is never a decline',
});

const walletCode = z
  .string()
  .regex(/^(0|[1-9]\d{0,4})$/, { error: "must be a wallet's code, a whole number" })
  .refine((key) => Number(key) !== SYSTEM_ERROR, {
    error: 'cannot be mapped: a wallet that says 100 has decided nothing',
  });

const codeMap = (operation: string) =>
  z
    .record(walletCode, code().describe("The protocol's code for it"))
    .optional()
    .describe(`Maps the wallet's codes to the protocol's, for ${operation}`);

/** Codes nested in another member are not supported: every refusal would count as a malformed answer. */
const memberName = () =>
  text('the name of the member', 64).regex(/^[^./[\]]*$/, {
    error:
      'must be the name of a member of the body itself, such as errorCode: one inside another is not read; ' +
      'name the statuses of such errors in errorStatuses',
  });

const flag = (description: string) => z.boolean().default(false).describe(description);

/** `wallet.dialect` of the `native` adapter, item by item. All is off by default. */
export const dialectSchema = z
  .strictObject({
    paths: z
      .strictObject({
        profile: path().default('/user/profile').describe('Path of the profile call'),
        balance: path().default('/user/balance').describe('Path of the balance call'),
        bet: path().default('/payment/bet').describe('Path of bet calls'),
      })
      .prefault({})
      .describe('Paths below baseUrl'),
    headers: z
      .record(headerName, headerValue)
      .default({})
      .describe('Further request headers, by name'),
    legacySign: flag('Also sends the header x-sign'),
    alwaysSendToken: flag("Sends the bet's operator token on every bet call"),
    successStatuses: z
      .array(z.int().min(200).max(299).describe('An HTTP status'))
      .min(1)
      .default([200])
      .describe('HTTP statuses that mean success'),
    errorStatuses: z
      .record(
        errorStatus,
        z
          .union([code(), z.literal('body')], {
            error: 'must be a code, or body to take the one that stands there',
          })
          .describe("The protocol's code for it, or body to take the one in the body"),
      )
      .default({})
      .describe('HTTP statuses below 500 that are errors, with the code they stand for'),
    codeField: memberName().default('code').describe('Member of an error body that holds the code'),
    okCodes: z
      .array(definiteCode())
      .optional()
      .describe('Codes that mean success in an HTTP 200; any other code there is an error'),
    mapCodes: z
      .strictObject({
        profile: codeMap('profile'),
        balance: codeMap('balance'),
        place: codeMap('place'),
        settle: codeMap('settle'),
        unsettle: codeMap('unsettle'),
        rollback: codeMap('rollback'),
        update: codeMap('update'),
      })
      .prefault({})
      .describe("Maps the wallet's codes to the protocol's, by operation"),
    unknownCodes: z
      .array(code().describe("A wallet's code"))
      .default([])
      .describe('Further codes that leave the outcome of a place unknown'),
    echo: z
      .enum(['check', 'ignore'])
      .default('check')
      .describe('Whether the transactionId that the wallet echoes is checked'),
    emptyOk: flag('Accepts an empty body with a success status'),
    rollbackConfirmedBy: z
      .array(definiteCode())
      .default([])
      .describe('Codes, in a JSON body, that mean "nothing to roll back"'),
    stableRequestId: flag("Retries carry the first attempt's requestId"),
    unknownRepeats: z
      .enum(['send', 'hold'])
      .default('send')
      .describe('hold: a settle or unsettle of unknown outcome is never sent again'),
    updates: z
      .enum(['send', 'skip'])
      .default('send')
      .describe('skip: data updates are never sent and answered 200'),
  })
  .superRefine(({ successStatuses, errorStatuses }, context) => {
    for (const status of successStatuses) {
      if (errorStatuses[String(status)] === undefined) continue;
      context.addIssue({
        code: 'custom',
        path: ['errorStatuses', String(status)],
        message: 'is also among successStatuses: keep it in one of them',
      });
    }
  });
