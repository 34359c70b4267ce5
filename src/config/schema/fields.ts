import { isIP } from 'node:net';
import { z } from 'zod';
import { withoutTrailingSlashes } from '../../lib/trailing-slashes.ts';

/** Minimum length, in characters, of secrets that we choose: `api.secrets`, `ADMIN_TOKEN`. */
export const OWN_SECRET_LENGTH_MIN = 32;
/** Minimum length of secrets agreed with others; that of the service's published signature vectors has 8. */
export const AGREED_SECRET_LENGTH_MIN = 8;
/** Whoever has one signed request may find an agreed secret that is shorter than this by trying. */
export const AGREED_SECRET_LENGTH_SAFE = 16;
/** An agreed secret shorter than this is accepted with a warning. */
export const AGREED_SECRET_LENGTH_GOOD = 32;

/** The longest time a setting may name: beyond 24 days, timers and ten times a value overflow. */
export const WEEK_MS = 7 * 24 * 60 * 60 * 1000;

/** A whole number from 1 to `max`. */
export const positiveInt = (max: number) => z.int().min(1).max(max);

/** Text that is not blank; `what` completes "must not be empty: give …". */
export const text = (what: string, lengthMax = 255) =>
  z
    .string()
    .refine((value) => value.trim() !== '', { error: `must not be empty: give ${what}` })
    .max(lengthMax)
    .meta({ minLength: 1 });

/**
 * The first signs, all verify, so that they can be rotated without a gap.
 * @param chosenBy `us`: must be strong; `others`: chosen long ago perhaps, weaker ones get a warning
 */
export const secrets = (chosenBy: 'us' | 'others') => {
  const lengthMin = chosenBy === 'us' ? OWN_SECRET_LENGTH_MIN : AGREED_SECRET_LENGTH_MIN;
  return z
    .array(
      text('the secret, best through a variable', 4096)
        // Not in the JSON Schema: the file contains a variable, which is shorter.
        .refine((secret) => secret.trim() === '' || secret.length >= lengthMin, {
          error: `must have at least ${lengthMin} characters: make one with openssl rand -base64 32`,
        })
        // A file with both the old and the new secret, for example: taken as one, every call would be refused.
        .refine((secret) => !/[\r\n]/.test(secret.trim()), {
          error: 'must be one line: give each secret a variable or a file of its own',
        })
        .describe('A secret'),
    )
    .min(1);
};

/** A list without duplicates; the message tells people to remove one. */
export function unique<T extends z.core.SomeType>(list: z.ZodArray<T>) {
  return list
    .refine((entries) => new Set(entries).size === entries.length, {
      error: 'has an entry twice: keep one of them',
    })
    .meta({ uniqueItems: true });
}

/** An http or https address without credentials, query or fragment; trailing slashes are removed. */
export const baseUrl = () =>
  z
    .string()
    .superRefine((value, context) => {
      const wrong = whyNotBaseUrl(value);
      // The message never repeats the value, which may contain credentials.
      if (wrong !== undefined) context.addIssue({ code: 'custom', message: wrong });
    })
    .overwrite(withoutTrailingSlashes);

function whyNotBaseUrl(value: string): string | undefined {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  if (url === undefined || !['http:', 'https:'].includes(url.protocol)) {
    return 'must be an absolute address such as https://wallet.example/api';
  }
  if (url.username !== '' || url.password !== '') {
    return 'must not carry a user name or password: remove what stands before the @';
  }
  if (value.includes('?') || value.includes('#')) {
    return 'must not carry a query or fragment: remove what follows ? or #';
  }
  return undefined;
}

/** An address range that `node:net`'s BlockList accepts: `10.0.0.0/8`, `2001:db8::/32`. */
export const cidr = () =>
  z.string().refine((value) => parseCidr(value) !== undefined, {
    error: 'must be a CIDR such as 10.0.0.0/8, or 192.0.2.7/32 for one address',
  });

/** A time zone of the IANA database, by its name there. */
export const timeZone = () =>
  z.string().refine(isTimeZone, {
    error:
      'must be a time zone such as Europe/Berlin or UTC, and no abbreviation, which PostgreSQL reads in its own way',
  });

/** Three-letter names that PostgreSQL interprets as the IANA database does. */
const SHORT_ZONES = new Set('UTC GMT UCT PRC ROC ROK EST MST HST'.split(' '));

function isTimeZone(name: string): boolean {
  // Node takes `IST` for India and gives `CET` a summer time; PostgreSQL takes Israel, and one hour all year.
  if (name.length === 3 && !SHORT_ZONES.has(name.toUpperCase())) return false;
  // Names only: in offsets such as `+02:00`, PostgreSQL reverses the sign.
  if (!/^[A-Za-z][A-Za-z0-9_+/-]*$/.test(name)) return false;
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}

export interface Cidr {
  readonly address: string;
  readonly prefix: number;
  readonly family: 'ipv4' | 'ipv6';
}

/** The parts of a CIDR, ready for `BlockList.addSubnet`; undefined for anything else. */
function parseCidr(value: string): Cidr | undefined {
  const match = /^([0-9A-Fa-f.:]+)\/(0|[1-9]\d{0,2})$/.exec(value);
  const address = match?.[1] ?? '';
  const prefix = Number(match?.[2]);
  const version = isIP(address);
  if (version === 0 || prefix > (version === 4 ? 32 : 128)) return undefined;
  return { address, prefix, family: version === 4 ? 'ipv4' : 'ipv6' };
}
